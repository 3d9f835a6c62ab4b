#include "linkwork/io/thinned_rows.h"

#include <algorithm>

namespace linkwork {

ThinnedRows::ThinnedRows(std::size_t columns, std::size_t most_rows, std::size_t most_values)
    : columns_(columns), most_rows_(std::clamp<std::size_t>(most_values / std::max<std::size_t>(columns, 1), 1000, most_rows)) {}

void ThinnedRows::add(std::span<const double> row) {
  last_.assign(row.begin(), row.end());
  if (all_ % stride_ == 0) {
    kept_.insert(kept_.end(), row.begin(), row.end());
    if (kept_.size() > most_rows_ * columns_) drop_every_second();
  }
  ++all_;
}

void ThinnedRows::drop_every_second() {
  const std::size_t rows = kept_.size() / columns_;
  const auto row = [&](std::size_t i) { return kept_.begin() + static_cast<std::ptrdiff_t>(i * columns_); };
  for (std::size_t i = 2; i < rows; i += 2) std::copy(row(i), row(i + 1), row(i / 2));
  kept_.resize((rows + 1) / 2 * columns_);
  stride_ *= 2;
}

std::size_t ThinnedRows::size() const {
  const std::size_t rows = columns_ > 0 ? kept_.size() / columns_ : 0;
  const bool has_last = all_ == 0 || (all_ - 1) % stride_ == 0;
  return has_last ? rows : rows + 1;
}

double ThinnedRows::at(std::size_t row, std::size_t column) const {
  const std::size_t index = row * columns_ + column;
  return index < kept_.size() ? kept_[index] : last_[column];
}

}  // namespace linkwork
