#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "linkwork/linalg/rank.h"
#include "linkwork/spatial/vector.h"

namespace linkwork {

/// The arithmetic of one group of modules: (1) to (3) of hierarchy.h. Rows of joints concern few ports, a port answers to forces
/// on ports of the same member only, and some components of ports to no force at all: those out of the plane of a planar module,
/// whose D is zero. Only the rest is computed.
class GroupElimination {
 public:
  using Wrench6 = std::array<double, 6>;

  GroupElimination() = default;
  /// `members`: how many ports each has; `kept`: places of ports that are joined further up, in rising order.
  GroupElimination(std::span<const int> members, std::vector<int> kept);
  /// Adds a row on these ports.
  void add_row(std::span<const int> ports);
  /// After all rows were added.
  void make_room();

  int rows() const { return static_cast<int>(rows_.size()); }

  // What goes in: six numbers a port, and the rows.
  void set_response(int member, const MatX<double>& D) { D_[static_cast<std::size_t>(member)] = &D; }
  VecX<double> R, scale;
  /// Of a row on its n-th port.
  Wrench6& wrench(int row, int n) {
    return ends_[static_cast<std::size_t>(rows_[static_cast<std::size_t>(row)].first_end + n)].w;
  }
  VecX<double> rhs, row_scale;
  /// G R of a row.
  double rate_of_R(int row) const;

  /// Finds what responds; the responses are set.
  void look();
  /// x += D F.
  void add_response(const VecX<double>& F, VecX<double>& x) const;
  /// (1), (2): D_up, R_up, scale_up of the ports that are kept.
  void go_up();
  /// (3): F += E' Q_up + G' lambda.
  void go_down(const VecX<double>& Q_up, VecX<double>& F);
  /// What a dependent row asks for in vain, after go_down(), and the sum of its terms.
  std::pair<double, double> missed(int row, const VecX<double>& Q_up) const;

  MatX<double> D_up;
  VecX<double> R_up, scale_up;
  VecX<double> lambda;
  std::vector<char> dependent;
  Rank rank;

 private:
  struct Row {
    int first_end, last_end;
    int first_member, last_member;  // in touched_
  };
  struct End {
    int port, member;
    Wrench6 w;
  };
  struct Member {
    int first_port, last_port;
  };

  void list_components();
  void multiply();
  void invert();
  std::span<const int> components(int first_port, int last_port) const;
  std::span<const int> components_of(const Member& member) const { return components(member.first_port, member.last_port); }
  double* GD(int row) { return &GD_[static_cast<std::size_t>(row) * size_]; }
  const double* GD(int row) const { return &GD_[static_cast<std::size_t>(row) * size_]; }

  std::vector<Member> members_;
  std::vector<const MatX<double>*> D_;  // by member
  std::vector<int> kept_;
  std::vector<Row> rows_;
  std::vector<End> ends_;
  std::vector<int> touched_;  // by row: the members that its ports belong to
  std::size_t size_ = 0;      // six numbers a port

  // What responds.
  std::vector<char> responds_;
  std::vector<int> components_, first_component_;  // of all ports, where each port's begin
  std::vector<int> from_, to_, member_of_;         // of ports that are kept: here, further up, and whose
  // Rows that anything responds to: their numbers, and what belongs to them.
  std::vector<int> live_;
  std::vector<double> GD_, W_, inverse_, V_, S_, GDE_, live_scale_;
  std::vector<char> live_dependent_;
};

}  // namespace linkwork
