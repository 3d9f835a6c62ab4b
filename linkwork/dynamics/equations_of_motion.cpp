#include "linkwork/dynamics/equations_of_motion.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <cmath>
#include <cstring>

#include "linkwork/dynamics/motion_residual.h"
#include "linkwork/dynamics/running_blocks.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

EquationsOfMotion::EquationsOfMotion(const Model& model, std::unique_ptr<Formulation> formulation,
                                     std::unique_ptr<Stabilization> stabilization, Equations gives)
    : system_(model),
      formulation_(std::move(formulation)),
      stabilization_(std::move(stabilization)),
      gives_(gives),
      solution_(model),
      sharing_(model) {
  if (gives_ != Equations::kAcceleration) residual_ = std::make_unique<MotionResidual>(model);
}

EquationsOfMotion::EquationsOfMotion(EquationsOfMotion&&) noexcept = default;
EquationsOfMotion::~EquationsOfMotion() = default;

void EquationsOfMotion::start(State& state) {
  const std::vector<UserState>& states = model().states;
  state.z.resize(static_cast<Eigen::Index>(states.size()));
  for (std::size_t k = 0; k < states.size(); ++k) state.z[static_cast<Eigen::Index>(k)] = states[k].start;
  if (RunningBlocks* const blocks = system_.blocks()) {
    system_.update(state);
    blocks->start(system_, state.z);
  }
  formulation_->start(system_, state);
}

void EquationsOfMotion::complete() {
  formulation_->complete(system_, solution_);
  sharing_.share(system_, solution_.dependent, solution_.lambda);
}

void EquationsOfMotion::residual(const State& state, const VecX<double>& vdot, const VecX<double>& lambda, VecX<double>& r) {
  ++evaluations_;
  if (RunningBlocks* const blocks = system_.blocks()) blocks->clear_trouble();
  residual_->evaluate(system_, state, vdot, lambda, r);
  stabilization_->adjust(system_.terms());
}

void EquationsOfMotion::linearize(const State& state, const VecX<double>& vdot, const VecX<double>& lambda, Linearization& at) {
  evaluations_ += residual_->linearize(system_, state, vdot, lambda, at);
}

/// `cause`: what is not finite among what they come from, if anything is.
static std::string accelerations_not_finite(const Model& model, const VecX<double>& vdot, const std::string& cause) {
  const std::string text = "the accelerations are not finite";
  if (!cause.empty()) return text + ": " + cause;
  for (int v = 0; v < model.tree.nv; ++v)
    if (!std::isfinite(vdot[v]))
      return fmt::format("{}: that of '{}' is {}, though all that acts is finite", text, model.velocity_name(v), vdot[v]);
  return text;
}

/// Sums of zeros are zero; all else times zero is no number.
static bool all_finite(const VecX<double>& x) {
  double sum = 0.0;
  for (const double *number = x.data(), *last = number + x.size(); number != last; ++number) sum += 0.0 * *number;
  return sum == 0.0;
}

Status EquationsOfMotion::evaluate(State& state, Derivative& rates) {
  ++evaluations_;
  if (RunningBlocks* const blocks = system_.blocks()) blocks->clear_trouble();
  if (Status status = formulation_->prepare(system_, state); !status.ok()) return status;
  system_.update_forces();
  stabilization_->adjust(system_.terms());
  if (Status status = solve(); !status.ok()) {
    const std::string cause = system_.describe_not_finite();
    return cause.empty() ? status : Status{accelerations_not_finite(model(), solution_.vdot, cause)};
  }
  stabilization_->correct(system_, solution_);
  finish_inactive_rows();
  most_rank_ = std::max(most_rank_, solution_.rank.rank);
  strongest_ = std::max(strongest_, solution_.rank.weakest);
  if (!all_finite(solution_.vdot)) return {accelerations_not_finite(model(), solution_.vdot, system_.describe_not_finite())};
  if (rates.qdot.size() != state.q.size()) rates.qdot.resize(state.q.size());
  position_rates(system_.tree(), state.q.data(), state.v.data(), rates.qdot.data());
  assign_numbers(solution_.vdot, rates.vdot);
  if (const auto states = static_cast<Eigen::Index>(model().states.size()); states > 0 && state.z.size() > 0) {
    rates.zdot.resize(state.z.size());
    rates.zdot.tail(state.z.size() - states) = solution_.zdot;
    system_.state_rates({rates.zdot.data(), model().states.size()});
    if (!model().blocks.empty() && !rates.zdot.allFinite()) return {system_.describe_not_finite()};
  } else {
    assign_numbers(solution_.zdot, rates.zdot);
  }
  rates.power = system_.applied_power() + solution_.virtual_power;
  if (!model().coordinate_closures.empty() && !system_.terms().u.isZero(0.0)) {  // others do not depend on time
    formulation_->complete(system_, solution_);
    rates.power += solution_.lambda.dot(system_.terms().u);
  }
  return {};
}

Status EquationsOfMotion::evaluate_stage(State& state, Derivative& rates) {
  if (is_nearly_singular())
    if (Status status = project(state); !status.ok()) return status;
  return evaluate(state, rates);
}

Status EquationsOfMotion::evaluate(Moment& at, VecX<double>& rates) {
  unpack_into(at, at_);
  if (Status status = evaluate(at_, rates_); !status.ok()) return status;
  pack(at_, at);
  pack(rates_, rates);
  return {};
}

Status EquationsOfMotion::evaluate_stage(Moment& at, VecX<double>& rates) {
  if (is_nearly_singular())
    if (Status status = project(at); !status.ok()) return status;
  return evaluate(at, rates);
}

Status EquationsOfMotion::project(Moment& at) {
  if (formulation_->holds_constraints()) return {};
  unpack_into(at, moved_state_);
  const Status status = project(moved_state_);
  const auto differs = [](const VecX<double>& x, const double* y) {
    return x.size() > 0 && std::memcmp(x.data(), y, static_cast<std::size_t>(x.size()) * sizeof(double)) != 0;
  };
  const bool moves = differs(moved_state_.v, at.y.data() + moved_state_.q.size());
  if (moves || differs(moved_state_.q, at.y.data())) pack(moved_state_, at);
  if (system_.is_of(moved_state_)) moves ? system_.keep_positions() : system_.keep();
  return status;
}

void EquationsOfMotion::normalize(VecX<double>& y) const { normalize_quaternions(model().tree, y.data()); }

/// Of positions, velocities and the user's states.
double EquationsOfMotion::error_norm(const VecX<double>& from, const VecX<double>& to, const VecX<double>& error) {
  const Settings& settings = model().settings;
  const Eigen::Index work = model().tree.nq + model().tree.nv, states = static_cast<Eigen::Index>(model().states.size());
  const Eigen::Index count = work + states;
  double sum = 0.0;
  const auto add = [&](Eigen::Index i) {
    const double weight = settings.atol + settings.rtol * std::max(std::abs(from[i]), std::abs(to[i]));
    sum += std::pow(error[i] / weight, 2);
  };
  for (Eigen::Index i = 0; i < work; ++i) add(i);
  for (Eigen::Index k = 1; k <= states; ++k) add(work + k);
  return std::sqrt(sum / static_cast<double>(std::max<Eigen::Index>(1, count)));
}

/// Friction that slides needs the normal forces, which the solution gives, which depends on the friction.
Status EquationsOfMotion::solve() {
  if (model().tree.nv == 0) return {};  // nothing moves
  loaded_.clear();
  const std::vector<DryFriction>& frictions = model().frictions;
  for (std::size_t k = 0; k < frictions.size(); ++k)
    if (frictions[k].normal_row >= 0 && system_.modes().friction[k].kind == Modes::Friction::Kind::kSlip) loaded_.push_back(k);
  return loaded_.empty() ? formulation_->solve(system_, solution_) : find_loads();
}

/// A force that counts: the weight of the mechanism, or what moves it by its length in a second.
static double weight(const Model& model) {
  double mass = 0.0;
  for (const Body& body : model.bodies) mass += body.mass;
  return mass * std::max(model.tree.gravity.norm(), model.units.rate > 0.0 ? 0.0 : model.units.length);
}

namespace {

/// Solves (1 - S N) change = S n - x with S the signs of n + N change where `is_turned` says that they count. Matrices of the
/// type Square need no memory of the heap if they are small.
template <class Square, class Column, class IsTurned>
void find_change(const VecX<double>& n, const MatX<double>& N, const VecX<double>& x, IsTurned&& is_turned,
                 VecX<double>& change) {
  constexpr int kMostSigns = 8;
  const Eigen::Index count = n.size();
  Column normals = n, right(count), before(count);
  Square matrix(count, count);
  bool same = false;
  for (int round = 0; round < kMostSigns && !same; ++round) {
    before = normals;
    matrix = -N;
    right = n;
    for (Eigen::Index i = 0; i < count; ++i) {
      if (is_turned(i, before[i])) matrix.row(i) = N.row(i), right[i] = -n[i];
      matrix(i, i) += 1.0;
    }
    right -= x;
    right = matrix.partialPivLu().solve(Column(right));
    normals = n;
    normals.noalias() += N * right;
    same = true;
    for (Eigen::Index i = 0; i < count; ++i) same = same && is_turned(i, normals[i]) == is_turned(i, before[i]);
  }
  change = right;
}

}  // namespace

/// The normal forces n that come of friction under loads x are affine, n = n0 + N (x - x0). Loads are their sizes where contact
/// is two-sided: with S the signs of n there, (1 - S N) (x - x0) = S n0 - x0, which one step of Newton's method solves. It is
/// taken again with other signs if they turn out so.
Status EquationsOfMotion::find_loads() {
  constexpr double kSame = 1e-13, kFound = 1e-6;
  const auto count = static_cast<Eigen::Index>(loaded_.size());
  loads_.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) loads_[i] = system_.load(loaded_[static_cast<std::size_t>(i)]);
  if (Status status = solve_with_loads(loads_, found_); !status.ok()) return status;
  const double unit = weight(model());
  const auto is_turned = [&](Eigen::Index i, double normal) {
    return normal < 0.0 && !model().frictions[loaded_[static_cast<std::size_t>(i)]].one_sided;
  };
  const auto is_found = [&](double tolerance) {
    double off = 0.0, size = unit;
    for (Eigen::Index i = 0; i < count; ++i) {
      const double load = is_turned(i, found_[i]) ? -found_[i] : found_[i];
      off = std::max(off, std::abs(load - loads_[i])), size = std::max(size, std::abs(load));
    }
    return off <= tolerance * size;
  };
  if (is_found(kSame)) return {};
  response_.resize(count, count);
  const double shift = std::max(unit, loads_.cwiseAbs().maxCoeff());
  for (Eigen::Index j = 0; j < count; ++j) {
    probe_ = loads_;
    probe_[j] += shift;
    if (Status status = solve_with_loads(probe_, moved_); !status.ok()) return status;
    response_.col(j) = (moved_ - found_) / shift;
  }
  constexpr int kFew = 24;
  if (count <= kFew)
    find_change<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kFew, kFew>,
                Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kFew, 1>>(found_, response_, loads_, is_turned, moved_);
  else
    find_change<MatX<double>, VecX<double>>(found_, response_, loads_, is_turned, moved_);
  if (!moved_.allFinite()) {
    const std::string cause = system_.describe_not_finite();
    return {cause.empty() ? fmt::format("the friction of '{}' is not finite", model().frictions[loaded_.front()].name)
                          : "the friction forces are not finite: " + cause};
  }
  loads_ += moved_;
  if (Status status = solve_with_loads(loads_, found_); !status.ok()) return status;
  if (is_found(kFound)) return {};
  return {fmt::format("no normal force of '{}' fits its friction", model().frictions[loaded_.front()].name)};
}

/// found: the normal forces, positive where they press on the side that counts.
Status EquationsOfMotion::solve_with_loads(const VecX<double>& loads, VecX<double>& found) {
  found.resize(loads.size());
  for (std::size_t i = 0; i < loaded_.size(); ++i) system_.set_load(loaded_[i], loads[static_cast<Eigen::Index>(i)]);
  system_.update_forces();
  if (Status status = formulation_->solve(system_, solution_); !status.ok()) return status;
  complete();
  for (std::size_t i = 0; i < loaded_.size(); ++i) {
    const DryFriction& friction = model().frictions[loaded_[i]];
    found[static_cast<Eigen::Index>(i)] = friction.side * solution_.lambda[friction.normal_row];
  }
  return {};
}

/// A row that is not in force takes no part; where it slides, its multiplier is the friction.
void EquationsOfMotion::finish_inactive_rows() {
  for (int row : system_.inactive_rows()) {
    solution_.lambda[row] = 0.0;
    solution_.dependent[static_cast<std::size_t>(row)] = 0;
  }
  for (std::size_t k = 0; k < model().frictions.size(); ++k) {
    const DryFriction& friction = model().frictions[k];
    if (system_.modes().friction[k].kind != Modes::Friction::Kind::kSlip) continue;
    for (int r = 0; r < friction.rows; ++r) solution_.lambda[friction.first_row + r] = system_.friction_force(k)[r];
  }
}

}  // namespace linkwork
