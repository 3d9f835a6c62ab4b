#include "linkwork/analysis/sensitivity_steps.h"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>

#include "linkwork/analysis/joint_parts.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/simulation_error.h"
#include "linkwork/spatial/so3.h"
#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

namespace {

/// Matrices of w -> q w / 2 and of q -> q w / 2, on (w, x, y, z).
Eigen::Matrix<double, 4, 3> by_turn(const double* q) {
  Eigen::Matrix<double, 4, 3> m;
  m << -q[1], -q[2], -q[3], q[0], -q[3], q[2], q[3], q[0], -q[1], -q[2], q[1], q[0];
  return 0.5 * m;
}
Eigen::Matrix4d by_quaternion(const double* w) {
  Eigen::Matrix4d m;
  m << 0, -w[0], -w[1], -w[2], w[0], 0, w[2], -w[1], w[1], -w[2], 0, w[0], w[2], w[1], -w[0], 0;
  return 0.5 * m;
}

MatX<double> pseudo_inverse(const MatX<double>& A) {
  if (A.rows() == 0) return MatX<double>::Zero(A.cols(), 0);
  return A.completeOrthogonalDecomposition().pseudoInverse();
}

/// The modes of a model, for one that differs in its numbers: parameters that no event has changed are its own.
Modes modes_for(const Modes& modes, const Model& of, const Model& other) {
  Modes same = modes;
  for (std::size_t k = 0; k < of.parameters.size(); ++k)
    if (same.parameters[k] == of.parameters[k].start) same.parameters[k] = other.parameters[k].start;
  return same;
}

}  // namespace

SensitivitySteps::SensitivitySteps(std::shared_ptr<const Model> model, const std::vector<Variation>& variations,
                                   const Tableau& tableau)
    : variations_(variations),
      tableau_(tableau),
      evaluator_(std::move(model)),
      derivatives_(evaluator_.model()),
      systems_(variations.size()),
      nq_(evaluator_.model().tree.nq),
      nv_(evaluator_.model().tree.nv),
      nz_(std::ssize(evaluator_.model().states)) {
  for (std::size_t k = 0; k < variations.size(); ++k)
    for (std::size_t i = 0; i < 4; ++i) systems_[k][i] = std::make_unique<System>(*variations[k].models[i]);
}

MatX<double> SensitivitySteps::lifting(const State& at) const {
  MatX<double> E = MatX<double>::Zero(size(), 2 * nv_ + nz_);
  for_each_part(
      evaluator_.model().tree, [&](int q, int v, int count) { E.block(q, v, count, count).setIdentity(); },
      [&](int q, int v) { E.block<4, 3>(q, v) = by_turn(at.q.data() + q); });
  E.bottomRightCorner(nv_ + nz_, nv_ + nz_).setIdentity();
  return E;
}

MatX<double> SensitivitySteps::flattening(const State& at) const {
  MatX<double> E = MatX<double>::Zero(2 * nv_ + nz_, size());
  for_each_part(
      evaluator_.model().tree, [&](int q, int v, int count) { E.block(v, q, count, count).setIdentity(); },
      [&](int q, int v) { E.block<3, 4>(v, q) = 4.0 / at.q.segment<4>(q).squaredNorm() * by_turn(at.q.data() + q).transpose(); });
  E.bottomRightCorner(nv_ + nz_, nv_ + nz_).setIdentity();
  return E;
}

VecX<double> SensitivitySteps::difference(const State& from, const State& to) const {
  VecX<double> d(2 * nv_ + nz_);
  d.head(nv_) = displacement(evaluator_.model().tree, from.q, to.q);
  d.segment(nv_, nv_) = to.v - from.v;
  if (nz_ > 0) d.tail(nz_) = to.z.head(nz_) - from.z.head(nz_);
  return d;
}

State SensitivitySteps::moved(const State& from, const VecX<double>& displacement) const {
  State to = from;
  displace(evaluator_.model().tree, to.q.data(), displacement.data());
  to.v += displacement.segment(nv_, nv_);
  if (nz_ > 0) to.z.head(nz_) += displacement.tail(nz_);
  return to;
}

void SensitivitySteps::evaluate(const State& state, const Modes& modes, const std::vector<double>& memory) {
  if (evaluator_.model().has_events()) evaluator_.set_modes(&modes);
  evaluator_.system().set_memory(memory);
  evaluator_.evaluate(state, std::map<std::string, double>());
  evaluator_.refresh();
  if (const Status status = derivatives_.compute(evaluator_.system(), evaluator_.solution()); !status.ok())
    throw SimulationError(status.trouble);
  for (std::size_t k = 0; k < variations_.size(); ++k) {
    if (variations_[k].of_start) continue;
    for (const std::unique_ptr<System>& system : systems_[k]) {
      system->set_modes(modes_for(modes, evaluator_.model(), system->model()));
      system->set_memory(memory);
      for (std::size_t f = 0; f < evaluator_.model().frictions.size(); ++f) system->set_load(f, evaluator_.system().load(f));
    }
  }
}

SensitivitySteps::Residual SensitivitySteps::residual(System& system, const State& state) {
  const Solution& solution = evaluator_.solution();
  Residual of;
  system.update(state);
  system.update_forces();
  of.zdot.resize(nz_);
  system.state_rates({of.zdot.data(), static_cast<std::size_t>(nz_)});
  of.acceleration = system.jacobian() * solution.vdot - system.terms().b;
  TreeWork<double>& work = system.work();
  const ConstraintTerms& terms = system.terms();
  for (std::size_t g = 0; g < terms.groups.size(); ++g)
    terms.groups[g].add_to_forces(solution.lambda.data() + terms.first_rows[g], work);
  inverse_dynamics(system.tree(), solution.vdot.data(), work, of.force);
  of.force -= work.tau;
  return of;
}

void SensitivitySteps::residual_derivatives(const State& state, MatX<double>& force, MatX<double>& acceleration,
                                            MatX<double>& zdot) {
  force.setZero(nv_, columns());
  acceleration.setZero(evaluator_.model().row_count(), columns());
  zdot.setZero(nz_, columns());
  for (std::size_t k = 0; k < variations_.size(); ++k) {
    if (variations_[k].of_start) continue;
    std::array<Residual, 4> at;
    for (std::size_t i = 0; i < 4; ++i) at[i] = residual(*systems_[k][i], state);
    const auto column = static_cast<Eigen::Index>(k);
    force.col(column) = variations_[k].difference([&](std::size_t i) -> const VecX<double>& { return at[i].force; });
    acceleration.col(column) =
        variations_[k].difference([&](std::size_t i) -> const VecX<double>& { return at[i].acceleration; });
    zdot.col(column) = variations_[k].difference([&](std::size_t i) -> const VecX<double>& { return at[i].zdot; });
  }
}

void SensitivitySteps::differentiate(Stage& stage, bool with_variations) {
  const Tree& tree = evaluator_.model().tree;
  const State& at = stage.state;
  const Solution& solution = evaluator_.solution();
  const MotionGradient& gradient = derivatives_.gradient();
  stage.rates.resize(size());
  position_rates(tree, at.q.data(), at.v.data(), stage.rates.data());
  stage.rates.segment(nq_, nv_) = solution.vdot;
  evaluator_.system().state_rates({stage.rates.data() + nq_ + nv_, static_cast<std::size_t>(nz_)});

  // By displacements, velocities and states; then by the numbers.
  MatX<double> by_displacement(nv_ + nz_, 2 * nv_ + nz_);
  by_displacement.topLeftCorner(nv_, 2 * nv_) = derivatives_.vdot().leftCols(2 * nv_);
  by_displacement.topRightCorner(nv_, nz_) = derivatives_.vdot().middleCols(gradient.first_state(), nz_);
  by_displacement.bottomLeftCorner(nz_, 2 * nv_) = gradient.states().leftCols(2 * nv_);
  by_displacement.bottomRightCorner(nz_, nz_) = gradient.states().middleCols(gradient.first_state(), nz_);
  stage.by_y = MatX<double>::Zero(size(), size());
  stage.by_y.bottomRows(nv_ + nz_) = by_displacement * flattening(at);
  for_each_part(
      tree, [&](int q, int v, int count) { stage.by_y.block(q, nq_ + v, count, count).setIdentity(); },
      [&](int q, int v) {
        stage.by_y.block<4, 4>(q, q) = by_quaternion(at.v.data() + v);
        stage.by_y.block<4, 3>(q, nq_ + v) = by_turn(at.q.data() + q);
      });
  if (!with_variations) return;
  MatX<double> force, acceleration, zdot;
  residual_derivatives(at, force, acceleration, zdot);
  RowMatX vdot, lambda;
  derivatives_.solve(-force, -acceleration, vdot, lambda);
  stage.by_number = MatX<double>::Zero(size(), columns());
  stage.by_number.middleRows(nq_, nv_) = vdot;
  stage.by_number.bottomRows(nz_) = zdot;
}

std::vector<SensitivitySteps::Stage> SensitivitySteps::stages(const SmoothStep& step, bool with_variations) {
  const double h = step.to.t - step.from.t;
  std::vector<Stage> all(tableau_.b.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    State& at = all[i].state;
    at = step.from;
    at.t = step.from.t + tableau_.c[i] * h;
    for (std::size_t j = 0; j < i; ++j) {
      at.q += h * tableau_.a[i][j] * all[j].rates.head(nq_);
      at.v += h * tableau_.a[i][j] * all[j].rates.segment(nq_, nv_);
      if (nz_ > 0) at.z.head(nz_) += h * tableau_.a[i][j] * all[j].rates.tail(nz_);
    }
    evaluate(at, step.modes, step.memory);
    differentiate(all[i], with_variations);
  }
  return all;
}

/// A_h dq + dphi/dp = 0 and G dq + A dv + G_z dz + d(A v - u)/dp = 0, by the least change.
void SensitivitySteps::projection(const State& at, MatX<double>& P, MatX<double>* p) {
  const Model& model = evaluator_.model();
  const MotionGradient& gradient = derivatives_.gradient();
  std::vector<int> positions, velocities;
  for (int row = 0; row < model.row_count(); ++row) {
    if (!evaluator_.system().is_active(row)) continue;
    velocities.push_back(row);
    if (model.rows[static_cast<std::size_t>(row)].holonomic) positions.push_back(row);
  }
  P = MatX<double>::Identity(2 * nv_ + nz_, 2 * nv_ + nz_);
  if (p) p->setZero(P.rows(), columns());
  if (velocities.empty()) return;
  MatX<double> errors(positions.size() + velocities.size(), columns());  // by variations
  errors.setZero();
  if (p)
    for (std::size_t k = 0; k < variations_.size(); ++k) {
      if (variations_[k].of_start) continue;
      const auto column = static_cast<Eigen::Index>(k);
      errors.col(column) = variations_[k].difference([&](std::size_t i) {
        System& system = *systems_[k][i];
        system.update(at);
        VecX<double> both(errors.rows());
        both << system.terms().phi(positions), system.terms().rate(velocities);
        return both;
      });
    }
  const RowMatX& rate = gradient.rate();
  const auto q = Eigen::seqN(Eigen::Index{0}, nv_), v = Eigen::seqN(nv_, nv_);
  const MatX<double> A = rate(positions, v), back = pseudo_inverse(A);
  P.topRows(nv_).leftCols(nv_) -= back * A;
  if (p) p->topRows(nv_) = -back * errors.topRows(std::ssize(positions));
  const MatX<double> Av = rate(velocities, v), G = rate(velocities, q), back_v = pseudo_inverse(Av);
  auto moving = P.middleRows(nv_, nv_);
  const MatX<double> settled = P.topRows(nv_);
  moving -= back_v * (G * settled);
  moving.middleCols(nv_, nv_) -= back_v * Av;
  moving.rightCols(nz_) -= back_v * MatX<double>(rate(velocities, Eigen::seqN(gradient.first_state(), static_cast<int>(nz_))));
  if (p) p->middleRows(nv_, nv_) = -back_v * (G * p->topRows(nv_) + errors.bottomRows(std::ssize(velocities)));
}

MatX<double> SensitivitySteps::start(const State& at) {
  MatX<double> X = MatX<double>::Zero(2 * nv_ + nz_, columns());
  for (std::size_t k = 0; k < variations_.size(); ++k)
    X.col(static_cast<Eigen::Index>(k)) = variations_[k].difference([&](std::size_t i) {
      AssemblyReport report;
      const Model& model = *variations_[k].models[i];
      State begins = assemble(model, report);
      begins.z.resize(nz_);
      for (Eigen::Index s = 0; s < nz_; ++s) begins.z[s] = model.states[static_cast<std::size_t>(s)].start;
      return difference(at, begins);
    });
  return to_numbers(at, X);
}

MatX<double> SensitivitySteps::forward(const SmoothStep& step, const MatX<double>& Y) {
  const double h = step.to.t - step.from.t;
  const std::vector<Stage> all = stages(step, true);
  MatX<double> end = Y;
  std::vector<MatX<double>> rates;
  for (std::size_t i = 0; i < all.size(); ++i) {
    MatX<double> at = Y;
    for (std::size_t j = 0; j < i; ++j) at += h * tableau_.a[i][j] * rates[j];
    rates.push_back(all[i].by_y * at + all[i].by_number);
    end += h * tableau_.b[i] * rates.back();
  }
  evaluate(step.to, step.modes, step.memory);
  MatX<double> P, p;
  projection(step.to, P, &p);
  return to_numbers(step.to, P * to_displacements(step.to, end) + p);
}

MatX<double> SensitivitySteps::backward(const SmoothStep& step, const MatX<double>& L, MatX<double>& derivatives) {
  const double h = step.to.t - step.from.t;
  evaluate(step.to, step.modes, step.memory);
  MatX<double> P, p;
  projection(step.to, P, &p);
  const MatX<double> lifted = L * lifting(step.to);
  derivatives += lifted * p;
  const MatX<double> end = lifted * P * flattening(step.to);
  const std::vector<Stage> all = stages(step, false);
  MatX<double> start = end;
  std::vector<MatX<double>> at(all.size());  // by the stages' y
  for (std::size_t i = all.size(); i-- > 0;) {
    MatX<double> rates = h * tableau_.b[i] * end;
    for (std::size_t j = i + 1; j < all.size(); ++j) rates += h * tableau_.a[j][i] * at[j];
    at[i] = rates * all[i].by_y;
    start += at[i];
    // rates . vdot_p = -mu . r_p - nu . s_p, with M mu = rates + A' y, A mu = 0, nu = -y: once per stage, not per variation.
    evaluate(all[i].state, step.modes, step.memory);
    MatX<double> force, acceleration, zdot;
    residual_derivatives(all[i].state, force, acceleration, zdot);
    const bool symmetric = std::ranges::all_of(derivatives_.gradient().sliding(), [](const auto& s) { return s.normal_row < 0; });
    if (symmetric) {
      RowMatX mu, y;
      const RowMatX right = rates.middleCols(nq_, nv_).transpose();
      derivatives_.solve(right, RowMatX::Zero(acceleration.rows(), right.cols()), mu, y);
      derivatives += -mu.transpose() * force + y.transpose() * acceleration;
    } else {
      RowMatX vdot, lambda;
      derivatives_.solve(-force, -acceleration, vdot, lambda);
      derivatives += rates.middleCols(nq_, nv_) * vdot;
    }
    derivatives += rates.rightCols(nz_) * zdot;
  }
  return start;
}

SensitivitySteps::Reading SensitivitySteps::read(const Variable& variable, const State& state, const Modes& modes,
                                                 const std::vector<double>& memory) {
  evaluate(state, modes, memory);
  const Eigen::RowVectorXd row = derivatives_.gradient().of(variable);
  Eigen::RowVectorXd by_x(2 * nv_ + nz_);
  by_x << row.head(2 * nv_), row.segment(derivatives_.gradient().first_state(), nz_);
  Reading reading{evaluator_.system().value(variable), by_x * flattening(state), Eigen::RowVectorXd::Zero(columns())};
  for (std::size_t k = 0; k < variations_.size(); ++k) {
    if (variations_[k].of_start) continue;
    reading.by_variation[static_cast<Eigen::Index>(k)] = variations_[k].difference([&](std::size_t i) {
      systems_[k][i]->update(state);
      return VecX<double>::Constant(1, systems_[k][i]->value(variable)).eval();
    })[0];
  }
  return reading;
}

SensitivitySteps::Allowed SensitivitySteps::allowed(const State& state, const Modes& modes, const std::vector<double>& memory) {
  evaluate(state, modes, memory);
  MatX<double> P, p;
  projection(state, P, &p);
  const Eigen::JacobiSVD<MatX<double>> svd(P, Eigen::ComputeThinU);
  Eigen::Index rank = 0;
  while (rank < P.rows() && svd.singularValues()[rank] > 1e-9) ++rank;
  return {svd.matrixU().leftCols(rank), p};
}

}  // namespace linkwork
