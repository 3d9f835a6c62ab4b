#pragma once

#include <span>
#include <vector>

#include "linkwork/coordinates/elimination_passes.h"
#include "linkwork/modules/module.h"

namespace linkwork {

/// D and R of a module's ports, or of a group's. Of D only what answers is kept: a component of a port that does not move under a
/// force along it moves under no force, as D is positive semidefinite; of a planar module those are half of them. Rows of D are
/// padded(), and symmetric to the last bit, as messages have one triangle.
class ReducedResponse {
 public:
  explicit ReducedResponse(int ports);

  void take(const PortResponse& response);
  /// As messages have it: R, scale, and the columns of the lower triangle of D with six rows a port. They return what comes next.
  double* write(double* to) const;
  const double* read(const double* from);

  int ports() const { return static_cast<int>(first_.size()) - 1; }
  int size() const { return static_cast<int>(components_.size()); }
  int stride() const { return padded(size()); }
  /// Numbers of the components that answer, six a port, in rising order; and those of one port: places of them.
  std::span<const int> components() const { return components_; }
  int first_of(int port) const { return first_[static_cast<std::size_t>(port)]; }
  int end_of(int port) const { return first_of(port + 1); }
  /// By component that answers.
  const double* row(int place) const { return D_.data() + place * stride(); }
  double* row(int place) { return D_.data() + place * stride(); }
  /// Another one whenever other components answer.
  int version() const { return version_; }

  /// These are to answer, unless their row of D turns out to be zero: said by leave_out_silent() once D is there.
  void begin(std::span<const int> components);
  void leave_out_silent();

  VecX<double> R, scale;  // six numbers a port

 private:
  template <class Column>
  void take_columns(Column column);
  void list(std::vector<int> components);

  std::vector<int> components_, first_;
  AlignedNumbers<double> D_;
  int version_ = 0;
};

}  // namespace linkwork
