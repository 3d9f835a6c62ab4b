#include "linkwork/dynamics/diagnosis.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/dynamics/joint_reactions.h"
#include "linkwork/dynamics/manifold_projection.h"
#include "linkwork/dynamics/redundancy.h"
#include "linkwork/linalg/gigsp.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

using Kind = RowDiagnosis::Kind;

/// Below this share of its length a row has no part in another.
constexpr double kNoShare = 1e-6;

/// Dependent sets of the rows at a state, by the geometry alone: see rank.h.
class DependentSets {
 public:
  /// Rows are taken in the given order: of a dependent set, the last is the one found. How many are independent is not for the
  /// order to say, but for RowRank, unless there is a tolerance of its own.
  DependentSets(System& system, std::vector<int> order, std::optional<double> tolerance = std::nullopt)
      : system_(system), order_(std::move(order)) {
    VecX<double> weights;
    rank_units(system, weights);
    weights = weights.cwiseAbs2().eval();
    const bool has_locked = leave_out_locked(system, weights);
    row_scales(system.jacobian_bounds(), weights, scale_);
    const MatX<double>& A = system.jacobian();
    MatX<double> rows(A.cols(), A.rows());
    std::vector<double> scales(order_.size());
    for (std::size_t k = 0; k < order_.size(); ++k) {
      rows.col(static_cast<Eigen::Index>(k)) = A.row(order_[k]).transpose().cwiseProduct(weights.cwiseSqrt());
      scales[k] = scale_[order_[k]];
    }
    gigsp_.factor(rows, scales, tolerance.value_or(kRankTolerance));
    if (!tolerance && !has_locked) {
      std::vector<char> dependent(order_.size());
      const int rank = RowRank().decide(system, dependent).rank;
      if (gigsp_.rank().rank != rank) gigsp_.factor(rows, scales_that_keep(rank, rows, scales));
    }
    VecX<double> b(A.rows());
    for (std::size_t k = 0; k < order_.size(); ++k) b[static_cast<Eigen::Index>(k)] = system.terms().b[order_[k]];
    gigsp_.carry(b);
    // Off the constraints, dependent rows do not quite agree.
    const ConstraintTerms& terms = system.terms();
    const Model& model = system.model();
    const double speed = model.speed(system.state().v), off = model.largest_error(terms.rate) / std::max(speed, 1e-300);
    slack_ = std::max(1e-8, 100.0 * std::max(model.largest_error(terms.phi), speed > 0.0 ? off : 0.0));
    usual_ = speed * speed;
  }

  int rank() const { return gigsp_.rank().rank; }
  std::vector<char> dependent() const {
    std::vector<char> marks(order_.size(), 0);
    for (std::size_t k = 0; k < order_.size(); ++k) marks[static_cast<std::size_t>(order_[k])] = gigsp_.dependent()[k];
    return marks;
  }
  const VecX<double>& scale() const { return scale_; }

  /// visit(row, coefficients by row that make it up, members of the set, contradiction or 0), for each dependent row.
  template <class Visit>
  void for_each(Visit&& visit) const {
    VecX<double> by_position, coefficients(static_cast<Eigen::Index>(order_.size()));
    for (std::size_t k = 0; k < order_.size(); ++k) {
      if (gigsp_.dependent()[k] == 0) continue;
      const int row = order_[k], position = static_cast<int>(k);
      gigsp_.dependency(position, by_position);
      std::vector<int> members;
      coefficients.setZero();
      for (std::size_t j = 0; j < order_.size(); ++j) {
        const double c = by_position[static_cast<Eigen::Index>(j)];
        if (!(std::abs(c) * std::sqrt(scale_[order_[j]]) > kNoShare * std::sqrt(scale_[row]))) continue;
        coefficients[order_[j]] = c;
        members.push_back(order_[j]);
      }
      std::ranges::sort(members);
      const double unit = usual_ * system_.model().units.row[row];
      visit(row, coefficients, members, gigsp_.is_inconsistent(position, unit, slack_) ? gigsp_.inconsistency()[position] : 0.0);
    }
  }

 private:
  /// Whether there are any.
  static bool leave_out_locked(const System& system, VecX<double>& weights) {
    const std::vector<char>& locked = system.work().locked;
    const std::vector<Node>& nodes = system.tree().nodes;
    bool any = false;
    for (std::size_t i = 1; i < nodes.size() && i < locked.size(); ++i)
      if (locked[i] != 0) weights.segment(nodes[i].v, velocity_count(nodes[i].kind)).setZero(), any = true;
    return any;
  }

  /// Close to a change of rank what is left of a row depends on the order. Then the rows that are the farthest from being
  /// dependent are kept, and counted whatever is left of them.
  static std::vector<double> scales_that_keep(int rank, const MatX<double>& rows, const std::vector<double>& scales) {
    constexpr double kCounts = 1e-300, kCountsNot = 1e300;
    MatX<double> shares = rows;
    for (std::size_t k = 0; k < scales.size(); ++k)
      if (scales[k] > 0.0) shares.col(static_cast<Eigen::Index>(k)) /= std::sqrt(scales[k]);
    const Eigen::ColPivHouseholderQR<MatX<double>> qr(shares);
    std::vector<double> result(scales.size(), kCountsNot);
    for (int k = 0; k < rank; ++k) result[static_cast<std::size_t>(qr.colsPermutation().indices()[k])] = kCounts;
    return result;
  }

  const System& system_;
  std::vector<int> order_;
  VecX<double> scale_;
  Gigsp gigsp_;
  double slack_ = 0.0;
  double usual_ = 0.0;  // acceleration, 1/s^2
};

std::vector<int> in_order(int rows) {
  std::vector<int> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// The rows marked 0, then the others.
std::vector<int> marked_last(const std::vector<char>& marks) {
  std::vector<int> order = in_order(static_cast<int>(marks.size()));
  std::ranges::stable_sort(order, {}, [&](int row) { return marks[static_cast<std::size_t>(row)]; });
  return order;
}

/// Rank and dependent rows where the mechanism is usually: the best of a few places nearby that satisfy the constraints.
class Neighbourhood {
 public:
  Neighbourhood(const Model& model, const Modes& modes) : model_(model), system_(model), projection_(model) {
    system_.set_modes(modes);
  }

  int rank() const { return rank_; }
  const std::vector<char>& dependent() const { return dependent_; }

  void explore(const State& state) {
    constexpr int kTrials = 6, kPlaces = 2;
    std::mt19937 random(271828);
    for (int trial = 0, places = 0; trial < kTrials && places < kPlaces; ++trial) {
      if (!move_near(state, random)) continue;
      ++places;
      const DependentSets sets(system_, in_order(model_.row_count()));
      if (sets.rank() <= rank_) continue;
      rank_ = sets.rank();
      dependent_ = sets.dependent();
    }
  }

 private:
  bool move_near(const State& state, std::mt19937& random) {
    constexpr double kFar = 0.02, kClosed = 1e-9;
    near_ = state;
    near_.v.setZero();
    VecX<double> change(model_.tree.nv);
    for (std::size_t i = 1; i < model_.tree.nodes.size(); ++i) {
      const Node& node = model_.tree.nodes[i];
      for (int k = 0; k < velocity_count(node.kind); ++k) {
        const double uniform = 2.0 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 1.0;
        change[node.v + k] = kFar * model_.units.velocity[node.v + k] * uniform;
      }
    }
    displace(model_.tree, near_.q.data(), change.data());
    projection_.project(system_, near_, 1e-15);
    system_.update(near_);
    return system_.terms().phi.cwiseQuotient(model_.units.row).cwiseAbs().maxCoeff() < kClosed;
  }

  const Model& model_;
  System system_;
  ManifoldProjection projection_;
  State near_;
  int rank_ = -1;
  std::vector<char> dependent_;
};

/// Rank, condition and distance from a singular position, by the geometry alone. Returns the dependent rows.
std::vector<char> measure(const Model& model, System& system, Diagnosis& diagnosis) {
  std::vector<char> dependent(static_cast<std::size_t>(model.row_count()));
  if (model.row_count() > kMostRowsToRank) {
    LoopElimination loops = cut_loops(model);
    loops.inward_unforced(system.tree(), system.work(), system.terms().groups, system.terms().b);
    diagnosis.rank = loops.rank().rank;
    diagnosis.estimated = true;
    diagnosis.condition = 1.0 / loops.rank().weakest;
    diagnosis.distance = std::sqrt(loops.rank().weakest);
    return loops.dependent();
  }
  RowRank rank;
  diagnosis.rank = rank.decide(system, dependent).rank;
  if (diagnosis.rank == 0) return dependent;
  std::vector<int> kept = marked_last(dependent);
  kept.resize(static_cast<std::size_t>(diagnosis.rank));
  MatX<double> rows = system.jacobian() * rank.units().asDiagonal();
  rows.array().colwise() /= rank.scale().array().max(1e-300).sqrt();
  const MatX<double> of_kept = rows(kept, Eigen::all);
  const Eigen::SelfAdjointEigenSolver<MatX<double>> eigen(of_kept * of_kept.transpose());
  const double smallest = std::max(0.0, eigen.eigenvalues()[0]);
  diagnosis.condition = eigen.eigenvalues().tail(1)[0] / std::max(smallest, 1e-300);
  diagnosis.distance = std::min(1.0, std::sqrt(smallest));
  Eigen::Index most = 0;
  eigen.eigenvectors().col(0).cwiseAbs().maxCoeff(&most);
  diagnosis.weakest_row = kept[static_cast<std::size_t>(most)];
  return dependent;
}

/// Which components of the forces and torques of joints and closures, in world axes, a change of the multipliers within N leaves
/// open.
void find_open_reactions(const Model& model, System& system, const MatX<double>& N, Diagnosis& diagnosis) {
  using Reaction = JointReactions::Reaction;
  JointReactions reactions(model);
  struct Open {
    std::string name;
    const Reaction* change;
    std::array<bool, 6> components{};
  };
  std::vector<Open> all;
  for (std::size_t c : reactions.other_closures()) all.push_back({model.frame_closures[c].name, &reactions.closures()[c]});
  for (std::size_t j = 0; j < model.joints.size(); ++j) all.push_back({model.joints[j].name, &reactions.joints()[j]});
  const auto component = [](const Reaction& of, int k) { return k < 3 ? of.force[k] : of.torque[k - 3]; };
  for (Eigen::Index n = 0; n < N.cols(); ++n) {
    reactions.update_change(system, N.col(n));
    double force = 0.0, torque = 0.0;
    for (const Open& of : all)
      force = std::max(force, of.change->force.norm()), torque = std::max(torque, of.change->torque.norm());
    torque = std::max(torque, force * model.units.length);
    force = std::max(force, torque / model.units.length);
    for (Open& of : all)
      for (int k = 0; k < 6; ++k)
        if (std::abs(component(*of.change, k)) > kNoShare * (k < 3 ? force : torque))
          of.components[static_cast<std::size_t>(k)] = true;
  }
  for (const Open& of : all)
    for (std::size_t k = 0; k < 6; ++k)
      if (of.components[k])
        diagnosis.undetermined.push_back(fmt::format("{}.{}.{}", k < 3 ? "force" : "torque", of.name, "xyz"[k % 3]));
}

/// lambda is unique but for N c with any c: each column of N is a dependent row less what makes it up [Wojtyra2005].
void find_reactions(const Model& model, System& system, const MatX<double>& N, Diagnosis& diagnosis) {
  for (std::size_t i = 0; i < diagnosis.rows.size(); ++i) {
    RowDiagnosis& row = diagnosis.rows[i];
    row.unique_reaction = N.row(static_cast<Eigen::Index>(i)).cwiseAbs().sum() == 0.0;
    if (!row.unique_reaction && !model.rows[i].internal) diagnosis.undetermined.push_back("lambda." + model.rows[i].name);
  }
  if (N.cols() > 0) find_open_reactions(model, system, N, diagnosis);
  for (std::size_t i = 0; i < model.rows.size(); ++i) {
    const std::string& closure = model.rows[i].closure;
    if (model.rows[i].internal || (i > 0 && model.rows[i - 1].closure == closure)) continue;
    std::vector<std::string> unique;
    std::size_t j = i;
    for (; j < model.rows.size() && model.rows[j].closure == closure; ++j)
      if (diagnosis.rows[j].unique_reaction) unique.push_back("lambda." + model.rows[j].name);
    if (unique.size() == j - i) unique = {"'" + closure + "'"};
    diagnosis.determined.insert(diagnosis.determined.end(), unique.begin(), unique.end());
  }
}

std::vector<std::string> row_names(const Model& model, std::span<const int> rows) {
  std::vector<std::string> names;
  for (int row : rows) names.push_back(model.rows[static_cast<std::size_t>(row)].name);
  return names;
}

/// The closures of some rows, each once, in quotes.
std::vector<std::string> closure_names(const Model& model, std::span<const int> rows) {
  std::vector<std::string> names;
  for (int row : rows) {
    std::string name = "'" + model.rows[static_cast<std::size_t>(row)].closure + "'";
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::vector<int> with(std::vector<int> rows, int row) {
  rows.insert(std::ranges::lower_bound(rows, row), row);
  return rows;
}

}  // namespace

bool Diagnosis::has(Kind kind) const {
  return std::ranges::any_of(rows, [&](const auto& row) { return row.kind == kind; });
}

std::vector<int> Diagnosis::of_kind(Kind kind) const {
  std::vector<int> found;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].kind == kind) found.push_back(static_cast<int>(i));
  return found;
}

Diagnosis diagnose(const Model& model, const State& state) { return diagnose(model, state, Modes(model)); }

Diagnosis diagnose(const Model& model, const State& state, const Modes& modes) {
  Diagnosis diagnosis;
  const int m = model.row_count();
  diagnosis.rows.resize(static_cast<std::size_t>(m));
  if (m == 0) return diagnosis;
  System system(model);
  system.set_modes(modes);
  system.update(state);
  const std::vector<char> dependent = measure(model, system, diagnosis);
  diagnosis.usual_rank = diagnosis.rank;
  if (diagnosis.rank == system.active_rows()) {
    find_reactions(model, system, MatX<double>::Zero(m, 0), diagnosis);
    return diagnosis;
  }

  Neighbourhood nearby(model, modes);
  nearby.explore(state);
  const std::vector<char>& usual = nearby.rank() >= 0 ? nearby.dependent() : dependent;
  const DependentSets sets(system, marked_last(usual));
  diagnosis.rank = sets.rank();
  diagnosis.usual_rank = std::max(diagnosis.rank, nearby.rank());
  MatX<double> N = MatX<double>::Zero(m, m - diagnosis.rank);
  Eigen::Index column = 0;
  sets.for_each([&](int i, const VecX<double>& coefficients, const std::vector<int>& members, double contradiction) {
    if (!system.is_active(i)) return;
    RowDiagnosis& row = diagnosis.rows[static_cast<std::size_t>(i)];
    row.follows_from = members;
    row.kind = usual[static_cast<std::size_t>(i)] == 0 ? Kind::kDegenerate : Kind::kRedundant;
    if (row.kind == Kind::kRedundant && contradiction != 0.0) {
      row.kind = Kind::kInconsistent;
      row.contradiction = std::abs(contradiction);
    }
    N.col(column) = -coefficients;
    N(i, column++) = 1.0;
  });
  find_reactions(model, system, N, diagnosis);
  return diagnosis;
}

std::vector<std::string> closures_against(System& system, std::span<const int> rows) {
  constexpr double kNearly = 1e-6;  // a search that failed need not have come to rest exactly
  std::vector<char> marks(static_cast<std::size_t>(system.terms().rows()), 0);
  for (int row : rows) marks[static_cast<std::size_t>(row)] = 1;
  const DependentSets sets(system, marked_last(marks), kNearly);
  const std::vector<std::string> own = closure_names(system.model(), rows);
  std::vector<int> others;
  sets.for_each([&](int row, const VecX<double>&, const std::vector<int>& members, double) {
    if (marks[static_cast<std::size_t>(row)] != 0) others.insert(others.end(), members.begin(), members.end());
  });
  std::ranges::sort(others);
  std::vector<std::string> names;
  for (std::string& name : closure_names(system.model(), others))
    if (std::ranges::find(own, name) == own.end()) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> describe_dependence(const Model& model, const Diagnosis& diagnosis) {
  std::vector<std::string> sentences;
  std::vector<int> idle;
  for (int row : diagnosis.of_kind(Kind::kRedundant))
    if (diagnosis.rows[static_cast<std::size_t>(row)].vanishes()) idle.push_back(row);
  if (!idle.empty())
    sentences.push_back(fmt::format("{} {} on no motion that the joints of the tree allow", listed(row_names(model, idle)),
                                    idle.size() == 1 ? "acts" : "act"));
  for (const Kind kind : {Kind::kRedundant, Kind::kDegenerate, Kind::kInconsistent})
    for (int i : diagnosis.of_kind(kind)) {
      const RowDiagnosis& row = diagnosis.rows[static_cast<std::size_t>(i)];
      if (kind == Kind::kRedundant && row.vanishes()) continue;
      const std::string& name = model.rows[static_cast<std::size_t>(i)].name;
      const std::string from =
          row.vanishes() ? "vanishes" : fmt::format("follows from {}", listed(row_names(model, row.follows_from)));
      if (kind == Kind::kDegenerate)
        sentences.push_back(fmt::format("{} {} at this position, though not nearby: a singular position", name, from));
      else if (kind == Kind::kInconsistent)
        sentences.push_back(fmt::format("{} {}, but contradicts that by {:.3g} in acceleration", name, from, row.contradiction));
      else
        sentences.push_back(fmt::format("{} {}", name, from));
    }
  return sentences;
}

std::string describe_reactions(const Model& model, const Diagnosis& diagnosis) {
  if (diagnosis.undetermined.empty()) return {};
  std::vector<int> sharing;
  for (std::size_t i = 0; i < diagnosis.rows.size(); ++i)
    if (!diagnosis.rows[i].unique_reaction && !diagnosis.rows[i].vanishes()) sharing.push_back(static_cast<int>(i));
  const std::string why = sharing.empty() ? "they act on no motion, so rigid bodies do not determine them"
                                          : fmt::format("how {} share their load is not determined by rigid bodies",
                                                        listed(row_names(model, sharing)));
  const std::string unique = diagnosis.determined.empty() ? "none is unique" : "unique are " + listed(diagnosis.determined);
  constexpr std::size_t kMost = 8;
  std::vector<std::string> open = diagnosis.undetermined;
  if (open.size() > kMost) open.resize(kMost), open.push_back(fmt::format("{} more", diagnosis.undetermined.size() - kMost));
  return fmt::format("not unique are {}: {}; {}", listed(open), why, unique);
}

std::string describe_regularity(const Model& model, const Diagnosis& diagnosis) {
  std::string text = fmt::format("distance {}{:.2g} from a singular position (1 is farthest), condition number {}{:.2g}",
                                 diagnosis.estimated ? "about " : "", diagnosis.distance, diagnosis.estimated ? "about " : "",
                                 diagnosis.condition);
  if (diagnosis.rank < diagnosis.usual_rank)
    return fmt::format("at a singular position: rank {} instead of {}", diagnosis.rank, diagnosis.usual_rank);
  if (diagnosis.weakest_row >= 0 && diagnosis.rank > 1)
    text += ", weakest row " + model.rows[static_cast<std::size_t>(diagnosis.weakest_row)].name;
  return text;
}

std::string advise(const Model& model, const Diagnosis& diagnosis) {
  if (diagnosis.has(Kind::kInconsistent)) return "leave out one of those that contradict one another, or make them agree";
  std::vector<std::string> advice;
  if (diagnosis.has(Kind::kDegenerate))
    advice.emplace_back("start a little beside the singular position: exactly at it, the motion that follows is not determined");
  constexpr double kClose = 1e-3;
  if (diagnosis.rank == diagnosis.usual_rank && diagnosis.rank > 0 && diagnosis.distance < kClose)
    advice.emplace_back("so close to a singular position reactions are large and steps must be small");
  std::vector<int> sharing;
  bool idle = false;
  for (int i : diagnosis.of_kind(Kind::kRedundant)) {
    const RowDiagnosis& row = diagnosis.rows[static_cast<std::size_t>(i)];
    idle = idle || row.vanishes();
    if (row.vanishes()) continue;
    for (int member : with(row.follows_from, i))
      if (std::ranges::find(sharing, member) == sharing.end()) sharing.push_back(member);
  }
  if (!sharing.empty()) {
    std::ranges::sort(sharing);
    const std::vector<std::string> closures = closure_names(model, sharing);
    advice.push_back(
        fmt::format("the motion is not affected; for unique reactions {} {}, or put a spring and damper in its place",
                    closures.size() == 1 ? "give fewer rows to" : "leave out one of", listed(closures)));
  } else if (idle) {
    advice.emplace_back("the motion is not affected; a closure with fewer rows (pin, point) leaves out those that do nothing");
  }
  std::string text;
  for (const std::string& sentence : advice) text += (text.empty() ? "" : "; ") + sentence;
  return text;
}

std::string describe_contradiction(const Model& model, const Diagnosis& diagnosis) {
  std::string text;
  for (int i : diagnosis.of_kind(Kind::kInconsistent)) {
    const RowDiagnosis& row = diagnosis.rows[static_cast<std::size_t>(i)];
    const std::vector<std::string> closures = closure_names(model, with(row.follows_from, i));
    const std::string who = closures.size() == 1 ? fmt::format("closure {} contradicts itself", closures[0])
                                                 : fmt::format("closures {} contradict one another", listed(closures));
    text += fmt::format("{}{} ({} is off by {:.3g} in acceleration from what the others allow)",
                        text.empty() ? "the constraints cannot all be met: " : ", and ", who,
                        model.rows[static_cast<std::size_t>(i)].name, row.contradiction);
  }
  return text.empty() ? text : text + "; " + advise(model, diagnosis);
}

}  // namespace linkwork
