#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace linkwork {

/// Rows of a run, evenly thinned to a bounded number however long the run is: whenever they become too many, every second one
/// is dropped. The first and the last row are always among them.
class ThinnedRows {
 public:
  /// At most about most_rows rows, and most_values numbers, but never fewer than a thousand rows.
  explicit ThinnedRows(std::size_t columns, std::size_t most_rows = 20000, std::size_t most_values = 4000000);

  void add(std::span<const double> row);

  std::size_t columns() const { return columns_; }
  /// Rows kept, of all().
  std::size_t size() const;
  std::size_t all() const { return all_; }
  /// Every how many rows one was kept.
  std::size_t stride() const { return stride_; }
  double at(std::size_t row, std::size_t column) const;

 private:
  void drop_every_second();

  std::size_t columns_;
  std::size_t most_rows_;
  std::size_t stride_ = 1;
  std::size_t all_ = 0;
  std::vector<double> kept_;  // row by row
  std::vector<double> last_;
};

}  // namespace linkwork
