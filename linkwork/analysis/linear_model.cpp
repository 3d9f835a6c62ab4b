#include "linkwork/analysis/linear_model.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// All that is differentiated: rates, then outputs.
class Response {
 public:
  explicit Response(ReducedMotion& motion) : motion_(motion) {
    for (const Sensor& sensor : motion.model().sensors)
      for (const std::string& component : sensor.kind->components)
        names_.push_back(std::string(sensor.kind->prefix) + "." + sensor.name + (component.empty() ? "" : "." + component));
  }

  const std::vector<std::string>& outputs() const { return names_; }

  VecX<double> at(const VecX<double>& x, const VecX<double>& u) {
    const VecX<double> rates = motion_.rates(x, u);
    System& system = motion_.evaluator().system();
    update_accelerations(system.tree(), motion_.evaluator().solution().vdot.data(), system.work());  // which some sensors show
    VecX<double> all(rates.size() + std::ssize(names_));
    all.head(rates.size()) = rates;
    Eigen::Index next = rates.size();
    for (const Sensor& sensor : motion_.model().sensors) {
      const std::size_t count = sensor.kind->components.size();
      sensor.kind->read(sensor, system, std::span(all.data() + next, count));
      next += static_cast<Eigen::Index>(count);
    }
    return all;
  }

  /// (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h
  template <class At>
  static VecX<double> derivative(At at, double h) {
    const VecX<double> near = at(h) - at(-h), far = at(2.0 * h) - at(-2.0 * h);
    return (8.0 * near - far) / (12.0 * h);
  }

 private:
  ReducedMotion& motion_;
  std::vector<std::string> names_;
};

std::vector<LinearModel::Eigenvalue> eigenvalues_of(const MatX<double>& A) {
  std::vector<LinearModel::Eigenvalue> list;
  if (A.rows() == 0) return list;
  const Eigen::VectorXcd values = Eigen::EigenSolver<MatX<double>>(A, false).eigenvalues();
  for (const std::complex<double>& value : values) {
    const double size = std::abs(value);
    list.push_back({value, size / (2.0 * std::numbers::pi), size > 0.0 ? -value.real() / size : 0.0});
  }
  std::ranges::stable_sort(list, [](const auto& a, const auto& b) {
    if (std::abs(a.frequency_hz - b.frequency_hz) > 1e-9 * (a.frequency_hz + b.frequency_hz))
      return a.frequency_hz < b.frequency_hz;
    return a.value.imag() < b.value.imag();
  });
  return list;
}

}  // namespace

/// By differences: for models with forces or sensors of a program's own.
static void differentiate(ReducedMotion& motion, Response& response, LinearModel& linear) {
  const VecX<double> x = motion.origin(), u = motion.inputs(), steps = motion.steps();
  const auto n = linear.A.rows(), p = linear.C.rows();
  VecX<double> moved = x, driven = u;
  for (Eigen::Index k = 0; k < n; ++k) {
    const VecX<double> column = Response::derivative(
        [&](double h) {
          moved[k] = x[k] + h;
          return response.at(moved, u);
        },
        steps[k]);
    moved[k] = x[k];
    linear.A.col(k) = column.head(n), linear.C.col(k) = column.tail(p);
  }
  for (Eigen::Index k = 0; k < u.size(); ++k) {
    const VecX<double> column = Response::derivative(
        [&](double h) {
          driven[k] = u[k] + h;
          return response.at(x, driven);
        },
        1e-3 * std::max(1.0, std::abs(u[k])));
    driven[k] = u[k];
    linear.B.col(k) = column.head(n), linear.D.col(k) = column.tail(p);
  }
}

/// By the exact derivatives.
static void take_derivatives(ReducedMotion& motion, LinearModel& linear) {
  const MatX<double> T = motion.tangent(), rates = motion.rate_derivatives();
  MotionGradient& gradient = motion.derivatives().gradient();
  MatX<double> outputs(linear.C.rows(), gradient.columns());
  Eigen::Index row = 0;
  const std::vector<Sensor>& sensors = motion.model().sensors;
  for (std::size_t k = 0; k < sensors.size(); ++k)
    for (std::size_t c = 0; c < sensors[k].kind->components.size(); ++c)
      outputs.row(row++) = gradient.of({Variable::Kind::kSensor, {}, static_cast<int>(k), static_cast<int>(c)});
  linear.A = rates * T, linear.C = outputs * T;
  const std::vector<int>& settable = motion.evaluator().settable();
  for (std::size_t k = 0; k < settable.size(); ++k) {
    const auto at = static_cast<Eigen::Index>(k);
    linear.B.col(at) = rates.col(gradient.first_input() + settable[k]);
    linear.D.col(at) = outputs.col(gradient.first_input() + settable[k]);
  }
}

MatX<double> state_matrix(ReducedMotion& motion) {
  if (MotionGradient::is_exact(motion.model())) return motion.rate_derivatives() * motion.tangent();
  Response response(motion);
  LinearModel linear;
  const auto n = motion.size(), m = motion.input_count(), p = static_cast<int>(response.outputs().size());
  linear.A.resize(n, n), linear.B.resize(n, m), linear.C.resize(p, n), linear.D.resize(p, m);
  differentiate(motion, response, linear);
  return linear.A;
}

LinearModel linear_terms(ReducedMotion& motion, Derivatives by) {
  Response response(motion);
  const auto n = motion.size(), m = motion.input_count(), p = static_cast<int>(response.outputs().size());
  LinearModel linear;
  linear.states = motion.names();
  linear.outputs = response.outputs();
  for (const int k : motion.evaluator().settable())
    linear.inputs.push_back("u." + motion.model().inputs[static_cast<std::size_t>(k)].name);
  linear.A.resize(n, n), linear.B.resize(n, m), linear.C.resize(p, n), linear.D.resize(p, m);
  if (by == Derivatives::kExact && MotionGradient::is_exact(motion.model()))
    take_derivatives(motion, linear);
  else
    differentiate(motion, response, linear);
  motion.rates(motion.origin());
  const State& at = motion.evaluator().state();
  linear.t = at.t;
  for (const Joint& joint : motion.model().joints) {
    for (std::size_t k = 0; k < joint.q.size(); ++k)
      linear.q.emplace_back(coordinate_name(joint, joint.kind->positions[k]), at.q[joint.q[k]]);
    for (std::size_t k = 0; k < joint.v.size(); ++k)
      linear.v.emplace_back(coordinate_name(joint, joint.kind->velocities[k]), at.v[joint.v[k]]);
  }
  return linear;
}

LinearModel linearize(ReducedMotion& motion, Derivatives by) {
  LinearModel linear = linear_terms(motion, by);
  linear.eigenvalues = eigenvalues_of(linear.A);
  return linear;
}

}  // namespace linkwork
