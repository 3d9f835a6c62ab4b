#include "linkwork/modules/group_elimination.h"

#include <algorithm>
#include <cmath>

#include "linkwork/linalg/index.h"

namespace linkwork {

GroupElimination::GroupElimination(std::span<const int> members, std::vector<int> kept) : kept_(std::move(kept)) {
  int ports = 0;
  for (const int count : members) {
    members_.push_back({ports, ports + count});
    ports += count;
  }
  D_.resize(members_.size(), nullptr);
  size_ = at(6 * ports);
  R = scale = VecX<double>::Zero(6 * ports);
  const auto up = static_cast<Eigen::Index>(6 * kept_.size());
  D_up = MatX<double>::Zero(up, up);
  R_up = scale_up = VecX<double>::Zero(up);
}

void GroupElimination::add_row(std::span<const int> ports) {
  Row row{static_cast<int>(ends_.size()), 0, static_cast<int>(touched_.size()), 0};
  for (const int port : ports) {
    const auto member = std::ranges::find_if(members_, [&](const Member& m) { return port < m.last_port; });
    const auto index = static_cast<int>(member - members_.begin());
    ends_.push_back({port, index, {}});
    if (std::find(touched_.begin() + row.first_member, touched_.end(), index) == touched_.end()) touched_.push_back(index);
  }
  row.last_end = static_cast<int>(ends_.size());
  row.last_member = static_cast<int>(touched_.size());
  rows_.push_back(row);
}

void GroupElimination::make_room() {
  const std::size_t m = rows_.size();
  rhs = row_scale = lambda = VecX<double>::Zero(std::ssize(rows_));
  dependent.assign(m, 0);
  responds_.assign(size_, 0);
  GD_.assign(m * size_, 0.0);
  W_.assign(m * m, 0.0);
  inverse_ = W_;
  V_ = live_scale_ = std::vector<double>(m, 0.0);
  live_dependent_.assign(m, 0);
  S_ = GDE_ = std::vector<double>(m * 6 * kept_.size(), 0.0);
  live_.reserve(m);
  list_components();
}

double GroupElimination::rate_of_R(int row) const {
  double sum = 0.0;
  for (int e = rows_[at(row)].first_end; e < rows_[at(row)].last_end; ++e) {
    const double* const r = R.data() + 6 * ends_[at(e)].port;
    for (std::size_t k = 0; k < 6; ++k) sum += ends_[at(e)].w[k] * r[k];
  }
  return sum;
}

/// A component that does not move under a force along it moves under no force: D is positive semidefinite.
void GroupElimination::look() {
  bool is_new = false;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const int first = 6 * members_[m].first_port;
    for (int k = first; k < 6 * members_[m].last_port; ++k) {
      const char responds = (*D_[m])(k - first, k - first) != 0.0;
      is_new = is_new || responds != responds_[at(k)];
      responds_[at(k)] = responds;
    }
  }
  if (is_new) list_components();
}

void GroupElimination::list_components() {
  components_.clear();
  first_component_.clear();
  for (std::size_t k = 0; k < size_; ++k) {
    if (k % 6 == 0) first_component_.push_back(static_cast<int>(components_.size()));
    if (responds_[k]) components_.push_back(static_cast<int>(k));
  }
  first_component_.push_back(static_cast<int>(components_.size()));
  from_.clear(), to_.clear(), member_of_.clear();
  for (std::size_t k = 0; k < kept_.size(); ++k)
    for (const int component : components(kept_[k], kept_[k] + 1)) {
      from_.push_back(component);
      to_.push_back(static_cast<int>(6 * k) + component - 6 * kept_[k]);
      const auto whose = std::ranges::find_if(members_, [&](const Member& m) { return kept_[k] < m.last_port; });
      member_of_.push_back(static_cast<int>(whose - members_.begin()));
    }
  D_up.setZero();
}

std::span<const int> GroupElimination::components(int first_port, int last_port) const {
  return {components_.data() + first_component_[at(first_port)], components_.data() + first_component_[at(last_port)]};
}

void GroupElimination::add_response(const VecX<double>& F, VecX<double>& x) const {
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const MatX<double>& D = *D_[m];
    const int first = 6 * members_[m].first_port;
    const std::span<const int> own = components_of(members_[m]);
    for (const int k : own) {
      const double* const column = D.data() + (k - first) * D.rows();
      if (F[k] != 0.0)
        for (const int j : own) x[j] += F[k] * column[j - first];
    }
  }
}

/// G D and G D G'. D is symmetric: its columns are its rows.
void GroupElimination::multiply() {
  const std::size_t m = rows_.size();
  live_.clear();
  for (std::size_t r = 0; r < m; ++r) {
    double* const to = GD(static_cast<int>(r));
    for (int t = rows_[r].first_member; t < rows_[r].last_member; ++t)
      for (const int j : components_of(members_[at(touched_[at(t)])])) to[j] = 0.0;
    for (int e = rows_[r].first_end; e < rows_[r].last_end; ++e) {
      const End& end = ends_[at(e)];
      const MatX<double>& D = *D_[at(end.member)];
      const int first = 6 * members_[at(end.member)].first_port;
      const std::span<const int> own = components_of(members_[at(end.member)]);
      for (const int k : components(end.port, end.port + 1)) {
        const double w = end.w[at(k - 6 * end.port)];
        if (w == 0.0) continue;
        const double* const column = D.data() + (k - first) * D.rows() - first;
        for (const int j : own) to[j] += w * column[j];
      }
    }
  }
  for (std::size_t r = 0; r < m; ++r) {
    for (std::size_t other = r; other < m; ++other) {
      const double* const from = GD(static_cast<int>(other));
      double sum = 0.0;
      for (int e = rows_[r].first_end; e < rows_[r].last_end; ++e) {
        const End& end = ends_[at(e)];
        for (const int k : components(end.port, end.port + 1)) sum += end.w[at(k - 6 * end.port)] * from[k];
      }
      W_[r * m + other] = W_[other * m + r] = sum;
    }
    if (W_[r * m + r] != 0.0) live_.push_back(static_cast<int>(r));
  }
}

/// Rows that nothing responds to depend on others, whatever these are.
void GroupElimination::invert() {
  const std::size_t m = rows_.size(), n = live_.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) inverse_[i * n + j] = W_[at(live_[i]) * m + at(live_[j])];
    live_scale_[i] = row_scale[live_[i]];
  }
  rank = ranked_inverse({inverse_.data(), n * n}, static_cast<int>(n), {live_scale_.data(), n}, {live_dependent_.data(), n});
  std::ranges::fill(dependent, char{1});
  for (std::size_t i = 0; i < n; ++i) {
    dependent[at(live_[i])] = live_dependent_[i];
    double sum = 0.0;
    for (std::size_t j = 0; j < n; ++j) sum += inverse_[i * n + j] * rhs[live_[j]];
    V_[i] = sum;
  }
}

void GroupElimination::go_up() {
  if (!rows_.empty()) {
    multiply();
    invert();
  }
  const std::size_t n = live_.size(), up = from_.size();
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    const auto to = static_cast<Eigen::Index>(6 * k), from = static_cast<Eigen::Index>(6 * kept_[k]);
    R_up.segment<6>(to) = R.segment<6>(from);
    scale_up.segment<6>(to) = scale.segment<6>(from);
  }
  for (std::size_t r = 0; r < n; ++r) {
    const double* const row = GD(live_[r]);
    double* const own = GDE_.data() + r * up;
    for (std::size_t a = 0; a < up; ++a) {
      own[a] = row[from_[a]];
      R_up[to_[a]] += V_[r] * own[a];
    }
  }
  for (std::size_t r = 0; r < n; ++r) {
    double* const own = S_.data() + r * up;
    std::fill_n(own, up, 0.0);
    for (std::size_t s = 0; s < n; ++s)
      for (std::size_t a = 0; a < up; ++a) own[a] -= inverse_[r * n + s] * GDE_[s * up + a];
  }
  for (std::size_t a = 0; a < up; ++a) {
    const int member = member_of_[a], first = 6 * members_[at(member)].first_port;
    const MatX<double>& D = *D_[at(member)];
    const double* const column = D.data() + (from_[a] - first) * D.rows() - first;
    for (std::size_t b = a; b < up; ++b) {
      double sum = member_of_[b] == member ? column[from_[b]] : 0.0;
      for (std::size_t r = 0; r < n; ++r) sum += S_[r * up + a] * GDE_[r * up + b];
      D_up(to_[b], to_[a]) = D_up(to_[a], to_[b]) = sum;  // symmetric to the last bit, as in messages
    }
  }
}

void GroupElimination::go_down(const VecX<double>& Q_up, VecX<double>& F) {
  for (std::size_t k = 0; k < kept_.size(); ++k)
    F.segment<6>(static_cast<Eigen::Index>(6 * kept_[k])) += Q_up.segment<6>(static_cast<Eigen::Index>(6 * k));
  const std::size_t up = from_.size();
  lambda.setZero();
  for (std::size_t i = 0; i < live_.size(); ++i) {
    double force = V_[i];
    for (std::size_t a = 0; a < up; ++a) force += S_[i * up + a] * Q_up[to_[a]];
    lambda[live_[i]] = force;
    const Row& row = rows_[at(live_[i])];
    for (int e = row.first_end; e < row.last_end; ++e) {
      double* const on_port = F.data() + 6 * ends_[at(e)].port;
      for (std::size_t k = 0; k < 6; ++k) on_port[k] += force * ends_[at(e)].w[k];
    }
  }
}

std::pair<double, double> GroupElimination::missed(int row, const VecX<double>& Q_up) const {
  double missed = rhs[row], terms = std::abs(rhs[row]);
  const auto subtract = [&](double term) { missed -= term, terms += std::abs(term); };
  for (std::size_t r = 0; r < rows_.size(); ++r) subtract(W_[at(row) * rows_.size() + r] * lambda[static_cast<Eigen::Index>(r)]);
  for (std::size_t a = 0; a < from_.size(); ++a) missed -= GD(row)[from_[a]] * Q_up[to_[a]];
  for (int e = rows_[at(row)].first_end; e < rows_[at(row)].last_end; ++e)
    for (std::size_t k = 0; k < 6; ++k) terms += std::abs(ends_[at(e)].w[k] * R[6 * ends_[at(e)].port + static_cast<int>(k)]);
  return {std::abs(missed), terms};
}

}  // namespace linkwork
