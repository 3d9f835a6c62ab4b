#include "linkwork/modules/group_elimination.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "linkwork/coordinates/elimination_numbers.h"
#include "linkwork/linalg/index.h"

namespace linkwork {

using recursions::FourColumns, recursions::load, recursions::store;

namespace {

/// A matrix, row by row.
struct Rows {
  const double* first;
  int stride;
};

/// The first so many rows of A' B, of B so many vectors of four columns; or they are added to what there is. A and B have `count`
/// rows: kCount, unless that is 0.
template <int kCount, int kVectors>
[[gnu::always_inline]] inline void multiply_transposed(int count, int rows, Rows A, Rows B, bool adds, double* to, int stride) {
  const int n = kCount > 0 ? kCount : count;
  for (int row = 0; row < rows; ++row, to += stride) {
    std::array<FourColumns, at(kVectors)> sum;
    for (int v = 0; v < kVectors; ++v) sum[at(v)] = adds ? load(to + v * kColumnsAtATime) : FourColumns(0.0);
    const double *a = A.first + row, *b = B.first;
    for (int k = 0; k < n; ++k, a += A.stride, b += B.stride)
      for (int v = 0; v < kVectors; ++v) sum[at(v)] += FourColumns(*a) * load(b + v * kColumnsAtATime);
    for (int v = 0; v < kVectors; ++v) store(sum[at(v)], to + v * kColumnsAtATime);
  }
}

/// The usual sizes, those of joints in space and in a plane, are written out: a loop costs more than what it does.
void multiply_transposed(int count, int rows, int vectors, Rows A, Rows B, bool adds, double* to, int stride) {
  constexpr int kTwo = 2 * kColumnsAtATime;
  for (; vectors > 2; vectors -= 2, B.first += kTwo, to += kTwo) multiply_transposed<0, 2>(count, rows, A, B, adds, to, stride);
  if (vectors == 2) {
    if (count == 6) return multiply_transposed<6, 2>(count, rows, A, B, adds, to, stride);
    if (count == 2) return multiply_transposed<2, 2>(count, rows, A, B, adds, to, stride);
    return multiply_transposed<0, 2>(count, rows, A, B, adds, to, stride);
  }
  if (vectors == 0) return;
  if (count == 3) return multiply_transposed<3, 1>(count, rows, A, B, adds, to, stride);
  if (count == 2) return multiply_transposed<2, 1>(count, rows, A, B, adds, to, stride);
  multiply_transposed<0, 1>(count, rows, A, B, adds, to, stride);
}

}  // namespace

GroupElimination::GroupElimination(std::vector<const ReducedResponse*> members, std::vector<int> kept)
    : up(static_cast<int>(kept.size())), offers_(std::move(members)), versions_(offers_.size(), 0), kept_(std::move(kept)) {
  for (const ReducedResponse* const offer : offers_) {
    member_of_port_.insert(member_of_port_.end(), at(offer->ports()), static_cast<int>(members_.size()));
    members_.push_back({ports_, 0});
    ports_ += offer->ports();
  }
  R = scale = VecX<double>::Zero(6 * ports_);
}

void GroupElimination::add_row(std::span<const int> ports) {
  Row row{static_cast<int>(ends_.size()), 0};
  for (const int port : ports) ends_.push_back({port, member_of_port_[at(port)], {}});
  row.last_end = static_cast<int>(ends_.size());
  rows_.push_back(row);
}

void GroupElimination::make_room() {
  const std::size_t m = rows_.size(), up_numbers = m * at(padded(6 * up.ports()));
  rhs = row_scale = lambda = VecX<double>::Zero(std::ssize(rows_));
  dependent.assign(m, 0);
  W_stride_ = static_cast<int>(m) + kColumnsAtATime;  // the last numbers of a row may be written four at a time
  W_.assign(m * at(W_stride_), 0.0);
  inverse_.assign(m * m, 0.0);
  V_ = live_scale_ = std::vector<double>(m, 0.0);
  live_dependent_.assign(m, 0);
  live_of_.assign(m, -1);
  S_.assign(up_numbers, 0.0), GDE_.assign(up_numbers, 0.0);
  live_.reserve(m);
  list_blocks();
  list_components();
}

void GroupElimination::list_blocks() {
  const auto ends = [&](const Row& row) { return std::span(ends_).subspan(at(row.first_end), at(row.last_end - row.first_end)); };
  const auto same_port = [](const End& a, const End& b) { return a.port == b.port; };
  const auto count = static_cast<int>(rows_.size());
  for (int first = 0, last = 0; first < count; first = last) {
    const std::span<const End> own = ends(rows_[at(first)]);
    while (last < count && std::ranges::equal(own, ends(rows_[at(last)]), same_port)) ++last;
    Block block{first, last, static_cast<int>(stretches_.size()), 0, padded(last - first), 0, 0, 0, 0, 0};
    for (int member = 0; member < static_cast<int>(members_.size()); ++member) {
      bool adds = false;
      for (std::size_t e = 0; e < own.size(); ++e)
        if (own[e].member == member)
          stretches_.push_back({static_cast<int>(e), 0, 0, 0, 0, 0, std::exchange(adds, true), nullptr, 0});
    }
    block.last_stretch = static_cast<int>(stretches_.size());
    blocks_.push_back(block);
  }
}

double GroupElimination::rate_of_R(int row) const {
  double sum = 0.0;
  for (int e = rows_[at(row)].first_end; e < rows_[at(row)].last_end; ++e) {
    const double* const r = R.data() + 6 * ends_[at(e)].port;
    for (std::size_t k = 0; k < 6; ++k) sum += ends_[at(e)].w[k] * r[k];
  }
  return sum;
}

void GroupElimination::begin() {
  double *to_R = R.data(), *to_scale = scale.data();
  bool is_listed = true;
  for (std::size_t m = 0; m < offers_.size(); ++m) {
    const ReducedResponse& offer = *offers_[m];
    to_R = std::copy_n(offer.R.data(), offer.R.size(), to_R);
    to_scale = std::copy_n(offer.scale.data(), offer.scale.size(), to_scale);
    is_listed = is_listed && versions_[m] == offer.version();
  }
  if (!is_listed) list_components();
}

void GroupElimination::list_components() {
  size_ = 0;
  for (std::size_t m = 0; m < offers_.size(); ++m) {
    versions_[m] = offers_[m]->version();
    members_[m].first_place = size_;
    size_ += offers_[m]->size();
  }
  answering_.clear();
  int columns = 0, places = 0;
  for (Block& block : blocks_) {
    block.G = columns, block.GD = places;
    for (int n = block.first_stretch; n < block.last_stretch; ++n) {
      Stretch& stretch = stretches_[at(n)];
      const End& end = ends_[at(rows_[at(block.first_row)].first_end + stretch.end)];
      const ReducedResponse& offer = *offers_[at(end.member)];
      const Member& member = members_[at(end.member)];
      const int port = end.port - member.first_port, first = offer.first_of(port);
      stretch.first = static_cast<int>(answering_.size()), stretch.count = offer.end_of(port) - first;
      stretch.first_place = member.first_place, stretch.places = offer.size(),
      stretch.first_own_place = member.first_place + first;
      stretch.D = offer.row(first), stretch.D_stride = offer.stride();
      for (int c = first; c < offer.end_of(port); ++c) answering_.push_back(offer.components()[at(c)] - 6 * port);
      columns += stretch.count * block.stride;
    }
    places += size_ * block.stride;
  }
  G_.assign(at(columns), 0.0);
  GD_.assign(at(places), 0.0);
  from_.clear(), up_components_.clear();
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    const int whose = member_of_port_[at(kept_[k])];
    const Member& member = members_[at(whose)];
    const ReducedResponse& offer = *offers_[at(whose)];
    const int port = kept_[k] - member.first_port;
    for (int c = offer.first_of(port); c < offer.end_of(port); ++c) {
      const int number = static_cast<int>(6 * k) + offer.components()[at(c)] - 6 * port;
      from_.push_back({whose, c, member.first_place + c, number});
      up_components_.push_back(number);
    }
  }
  up_stride_ = padded(static_cast<int>(from_.size()));
  Q_.assign(at(up_stride_), 0.0);
  std::ranges::fill(S_, 0.0), std::ranges::fill(GDE_, 0.0);
}

void GroupElimination::add_response(const VecX<double>& F, VecX<double>& x) const {
  for (std::size_t m = 0; m < offers_.size(); ++m) {
    const ReducedResponse& offer = *offers_[m];
    const int first = 6 * members_[m].first_port;
    const std::span<const int> own = offer.components();
    for (std::size_t k = 0; k < own.size(); ++k) {
      const double* const column = offer.row(static_cast<int>(k));
      if (const double force = F[first + own[k]]; force != 0.0)
        for (std::size_t j = 0; j < own.size(); ++j) x[first + own[j]] += force * column[j];
    }
  }
}

/// Its rows that anything answers to, column by column.
void GroupElimination::take_rows(Block& block) {
  double* const G = G_.data() + block.G;
  const int stride = block.stride;
  int lane = 0, columns = 0;
  block.first_live = static_cast<int>(live_.size());
  for (int row = block.first_row; row < block.last_row; ++row) {
    std::uint64_t bits = 0;  // of all numbers, but for signs
    double* to = G + lane;
    const End* const ends = ends_.data() + rows_[at(row)].first_end;
    columns = 0;
    for (int n = block.first_stretch; n < block.last_stretch; ++n) {
      const Stretch& stretch = stretches_[at(n)];
      const double* const w = ends[stretch.end].w.data();
      columns += stretch.count;
      const int* const last = answering_.data() + stretch.first + stretch.count;
      for (const int* k = last - stretch.count; k != last; ++k, to += stride) {
        bits |= std::bit_cast<std::uint64_t>(w[*k]) << 1;
        *to = w[*k];
      }
    }
    live_of_[at(row)] = bits != 0 ? static_cast<int>(live_.size()) : -1;
    if (bits != 0) live_.push_back({row, block.GD + lane++, stride});
  }
  block.live = lane, block.vectors = padded(lane) / kColumnsAtATime;
  for (int c = 0; c < columns; ++c)
    for (int l = lane; l < padded(lane); ++l) G[c * stride + l] = 0.0;
}

/// G D and G D G'. D is symmetric.
void GroupElimination::multiply() {
  for (Block& block : blocks_) {
    take_rows(block);
    const double* G = G_.data() + block.G;
    double* const GD = GD_.data() + block.GD;
    for (int n = block.first_stretch; n < block.last_stretch; ++n) {
      const Stretch& stretch = stretches_[at(n)];
      multiply_transposed(stretch.count, stretch.places, block.vectors, {stretch.D, stretch.D_stride}, {G, block.stride},
                          stretch.adds, GD + stretch.first_place * block.stride, block.stride);
      G += stretch.count * block.stride;
    }
  }
  for (std::size_t a = 0; a < blocks_.size(); ++a) {
    const Block& block = blocks_[a];
    for (std::size_t b = a; b < blocks_.size(); ++b) {
      const Block& other = blocks_[b];
      const double *G = G_.data() + block.G, *const GD = GD_.data() + other.GD;
      for (int n = block.first_stretch; n < block.last_stretch; ++n) {
        const Stretch& stretch = stretches_[at(n)];
        multiply_transposed(stretch.count, block.live, other.vectors, {G, block.stride},
                            {GD + stretch.first_own_place * other.stride, other.stride}, n > block.first_stretch,
                            W_.data() + block.first_live * W_stride_ + other.first_live, W_stride_);
        G += stretch.count * block.stride;
      }
    }
  }
  const auto n = static_cast<int>(live_.size());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) W_[at(i * W_stride_ + j)] = W_[at(j * W_stride_ + i)];
}

void GroupElimination::invert_by(double scale_of_scales) {
  const std::size_t n = live_.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(W_.data() + i * at(W_stride_), n, inverse_.data() + i * n);
    live_scale_[i] = scale_of_scales * row_scale[live_[i].row];
  }
  rank = ranked_inverse({inverse_.data(), n * n}, static_cast<int>(n), {live_scale_.data(), n}, {live_dependent_.data(), n});
  rank.weakest *= scale_of_scales;
}

/// Rows that nothing answers to depend on others, whatever these are.
void GroupElimination::invert(int& usual_rank) {
  constexpr double kCanBeTold = 1e-14 / kRankTolerance;
  const std::size_t n = live_.size();
  invert_by(1.0);
  if (rank.rank < usual_rank) {
    invert_by(kCanBeTold);
    if (rank.rank != usual_rank) invert_by(1.0);
  }
  usual_rank = std::max(usual_rank, rank.rank);
  std::ranges::fill(dependent, char{1});
  for (std::size_t i = 0; i < n; ++i) {
    dependent[at(live_[i].row)] = live_dependent_[i];
    double sum = 0.0;
    for (std::size_t j = 0; j < n; ++j) sum += inverse_[i * n + j] * rhs[live_[j].row];
    V_[i] = sum;
  }
}

void GroupElimination::go_up(int& usual_rank) {
  live_.clear();
  if (!rows_.empty()) {
    multiply();
    invert(usual_rank);
  }
  const auto n = static_cast<int>(live_.size()), vectors = up_stride_ / kColumnsAtATime;
  up.begin(up_components_);
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    std::copy_n(R.data() + 6 * kept_[k], 6, up.R.data() + 6 * k);
    std::copy_n(scale.data() + 6 * kept_[k], 6, up.scale.data() + 6 * k);
  }
  const Rows GDE{GDE_.data(), up_stride_};
  const auto size = static_cast<int>(from_.size());
  double* own = GDE_.data();
  for (int r = 0; r < n; ++r, own += up_stride_) {
    const Live& live = live_[at(r)];
    const double V = V_[at(r)];
    for (int a = 0; a < size; ++a) {
      own[a] = GD(live, from_[at(a)].place);
      up.R[from_[at(a)].up] += V * own[a];
    }
  }
  multiply_transposed(n, n, vectors, {inverse_.data(), n}, GDE, false, S_.data(), up_stride_);
  for (int k = 0; k < n * up_stride_; ++k) S_[at(k)] = -S_[at(k)];
  for (int a = 0; a < size; ++a) {
    const Kept& kept = from_[at(a)];
    const double* const D = offers_[at(kept.member)]->row(kept.component);
    double* const to = up.row(a);
    for (int b = 0; b < size; ++b) to[b] = from_[at(b)].member == kept.member ? D[from_[at(b)].component] : 0.0;
    std::fill(to + size, to + up_stride_, 0.0);
  }
  if (n > 0) multiply_transposed(n, size, vectors, {S_.data(), up_stride_}, GDE, true, up.row(0), up_stride_);
  for (int a = 0; a < size; ++a)
    for (int b = 0; b < a; ++b) up.row(b)[a] = up.row(a)[b];
  up.leave_out_silent();
}

void GroupElimination::go_down(const VecX<double>& Q_up, VecX<double>& F) {
  for (std::size_t k = 0; k < kept_.size(); ++k)
    for (int c = 0; c < 6; ++c) F[6 * kept_[k] + c] += Q_up[static_cast<Eigen::Index>(6 * k) + c];
  const std::size_t size = from_.size();
  for (std::size_t a = 0; a < size; ++a) Q_[a] = Q_up[from_[a].up];
  lambda.setZero();
  for (std::size_t i = 0; i < live_.size(); ++i) {
    const double* const S = S_.data() + i * at(up_stride_);
    double force = V_[i];
    for (std::size_t a = 0; a < size; ++a) force += S[a] * Q_[a];
    lambda[live_[i].row] = force;
    const Row& row = rows_[at(live_[i].row)];
    for (int e = row.first_end; e < row.last_end; ++e) {
      double* const on_port = F.data() + 6 * ends_[at(e)].port;
      for (std::size_t k = 0; k < 6; ++k) on_port[k] += force * ends_[at(e)].w[k];
    }
  }
}

std::pair<double, double> GroupElimination::missed(int row, const VecX<double>& Q_up) const {
  double missed = rhs[row], terms = std::abs(rhs[row]);
  if (const int live = live_of_[at(row)]; live >= 0) {
    const std::size_t n = live_.size();
    for (std::size_t r = 0; r < n; ++r) {
      const double term = W_[at(live) * at(W_stride_) + r] * lambda[live_[r].row];
      missed -= term, terms += std::abs(term);
    }
    for (const Kept& kept : from_) missed -= GD(live_[at(live)], kept.place) * Q_up[kept.up];
  }
  for (int e = rows_[at(row)].first_end; e < rows_[at(row)].last_end; ++e)
    for (std::size_t k = 0; k < 6; ++k) terms += std::abs(ends_[at(e)].w[k] * R[6 * ends_[at(e)].port + static_cast<int>(k)]);
  return {std::abs(missed), terms};
}

}  // namespace linkwork
