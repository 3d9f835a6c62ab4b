#include "linkwork/modules/reduced_response.h"

#include <algorithm>
#include <utility>

#include "linkwork/dynamics/state.h"
#include "linkwork/linalg/index.h"

namespace linkwork {

ReducedResponse::ReducedResponse(int ports)
    : R(VecX<double>::Zero(6 * ports)), scale(R), first_(at(ports + 1), 0), D_(at(6 * ports * padded(6 * ports)), 0.0) {}

void ReducedResponse::list(std::vector<int> components) {
  components_ = std::move(components);
  for (int port = 0; port <= ports(); ++port)
    first_[at(port)] = static_cast<int>(std::ranges::lower_bound(components_, 6 * port) - components_.begin());
  std::ranges::fill(D_, 0.0);
  ++version_;
}

/// column(j)[i] is D(i, j), i >= j, with six rows a port.
template <class Column>
void ReducedResponse::take_columns(Column column) {
  const auto all = static_cast<int>(R.size());
  int count = 0;
  bool is_listed = true;
  for (int k = 0; k < all; ++k) {
    const bool answers = column(k)[k] != 0.0, was_to = count < size() && components_[at(count)] == k;
    is_listed = is_listed && answers == was_to;
    count += answers;
  }
  if (!is_listed) {
    std::vector<int> components;
    for (int k = 0; k < all; ++k)
      if (column(k)[k] != 0.0) components.push_back(k);
    list(std::move(components));
  }
  const int* const component = components_.data();
  const int step = stride();
  double* diagonal = D_.data();
  for (int j = 0; j < count; ++j, diagonal += step + 1) {
    const double* const from = column(component[j]);
    double* mirrored = diagonal;
    for (int i = j; i < count; ++i, mirrored += step) diagonal[i - j] = *mirrored = from[component[i]];
  }
}

void ReducedResponse::take(const PortResponse& response) {
  assign_numbers(response.R, R);
  assign_numbers(response.scale, scale);
  take_columns([from = response.D.data(), rows = response.D.rows()](int j) { return from + j * rows; });
}

double* ReducedResponse::write(double* to) const {
  to = std::copy_n(R.data(), R.size(), to);
  to = std::copy_n(scale.data(), scale.size(), to);
  int place = 0;
  for (int j = 0; j < 6 * ports(); ++j) {
    const int rows = 6 * ports() - j;
    std::fill_n(to, rows, 0.0);
    if (place < size() && components_[at(place)] == j) {
      for (int i = place; i < size(); ++i) to[components_[at(i)] - j] = row(i)[place];
      ++place;
    }
    to += rows;
  }
  return to;
}

const double* ReducedResponse::read(const double* from) {
  const Eigen::Index rows = R.size();
  std::copy_n(from, rows, R.data());
  std::copy_n(from + rows, rows, scale.data());
  const double* const triangle = from + 2 * rows;
  take_columns([&](int j) { return triangle + j * rows - j * (j + 1) / 2; });
  return triangle + rows * (rows + 1) / 2;
}

void ReducedResponse::begin(std::span<const int> components) {
  if (!std::ranges::equal(components, components_)) list({components.begin(), components.end()});
}

void ReducedResponse::leave_out_silent() {
  bool is_silent = false;
  for (int k = 0; k < size(); ++k) is_silent = is_silent || row(k)[k] == 0.0;
  if (!is_silent) return;
  const std::vector<int> before = components_;
  const AlignedNumbers<double> D = D_;
  const int step = stride();
  std::vector<int> left, places;
  for (int k = 0; k < size(); ++k)
    if (row(k)[k] != 0.0) left.push_back(before[at(k)]), places.push_back(k);
  list(std::move(left));
  for (int j = 0; j < size(); ++j)
    for (int i = 0; i < size(); ++i) row(j)[i] = D[at(places[at(j)] * step + places[at(i)])];
}

}  // namespace linkwork
