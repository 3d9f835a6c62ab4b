#include "linkwork/analysis/inverse_dynamics.h"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "linkwork/model/joint_state.h"
#include "linkwork/simulation/kinematics.h"
#include "linkwork/simulation/simulation_error.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

namespace {

std::vector<int> rows_that_count(Evaluator& at, std::span<const char> without) {
  std::vector<int> rows;
  for (int row = 0; row < at.model().row_count(); ++row)
    if (at.system().is_active(row) && (without.empty() || without[static_cast<std::size_t>(row)] == 0)) rows.push_back(row);
  return rows;
}

/// Directions of motion that the rows leave: columns that are orthonormal, A N = 0.
MatX<double> free_directions(Evaluator& at, const std::vector<int>& rows) {
  const int nv = at.model().tree.nv;
  if (rows.empty()) return MatX<double>::Identity(nv, nv);
  const VecX<double> weights = at.model().units.velocity.cwiseAbs2();
  const MatX<double> A = at.system().jacobian()(rows, Eigen::all), bounds = at.system().jacobian_bounds()(rows, Eigen::all);
  std::vector<char> dependent(rows.size(), 0);
  RankTest test;
  dependent_rows(A, bounds, weights, test, dependent);
  std::vector<int> independent;
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (dependent[r] == 0) independent.push_back(static_cast<int>(r));
  const Eigen::HouseholderQR<MatX<double>> qr(A(independent, Eigen::all).transpose());
  return MatX<double>(qr.householderQ()).rightCols(nv - std::ssize(independent));
}

void check_allowed(Evaluator& at, const VecX<double>& vdot, const std::vector<int>& rows) {
  constexpr double kOff = 1e-6;
  const MatX<double>& A = at.system().jacobian();
  const VecX<double>& b = at.system().terms().b;
  const double usual = std::pow(std::max(at.model().speed(at.state().v), 1e-3), 2);  // 1/s^2: rounding is none of it
  for (const int row : rows) {
    const double off = A.row(row).dot(vdot) - b[row];
    const double size = A.row(row).cwiseAbs().dot(vdot.cwiseAbs()) + std::abs(b[row]);
    if (std::abs(off) > kOff * (size + usual * at.model().units.row[row]))
      throw InputError({},
                       fmt::format("the accelerations would open '{}' by {:.3g} per s^2",
                                   at.model().rows[static_cast<std::size_t>(row)].name, off),
                       "accelerations that the constraints allow");
  }
}

MatX<double> directions_of(Evaluator& at, const std::vector<std::string>& actuators) {
  MatX<double> drive = MatX<double>::Zero(at.model().tree.nv, std::ssize(actuators));
  for (std::size_t k = 0; k < actuators.size(); ++k) {
    const Coordinate& coordinate = at.names().velocities.at(actuators[k]);
    const Joint& joint = at.model().joints[coordinate.joint()];
    if (!joint.in_state())
      throw InputError({}, fmt::format("'{}' is a coordinate of a joint that is cut", actuators[k]),
                       "a joint of the tree, or cut = true on another joint of the loop");
    drive(joint.v[static_cast<std::size_t>(coordinate.component)], static_cast<Eigen::Index>(k)) = 1.0;
  }
  return drive;
}

}  // namespace

VecX<double> efforts_for(Evaluator& at, const VecX<double>& vdot, const std::vector<std::string>& actuators,
                         std::span<const char> without) {
  constexpr double kOff = 1e-9;
  const Tree& tree = at.model().tree;
  if (vdot.size() != tree.nv || !vdot.allFinite())
    throw InputError({}, fmt::format("there are {} accelerations", vdot.size()), fmt::format("{} finite numbers", tree.nv));
  const std::vector<int> rows = rows_that_count(at, without);
  check_allowed(at, vdot, rows);
  at.refresh();
  VecX<double> needed(tree.nv);
  inverse_dynamics(tree, vdot.data(), at.system().work(), needed);
  needed -= at.system().work().tau;
  if (actuators.empty() && rows.empty()) return needed;
  const MatX<double> N = free_directions(at, rows);
  const MatX<double> reach = actuators.empty() ? MatX<double>(N.transpose()) : N.transpose() * directions_of(at, actuators);
  const VecX<double> wanted = N.transpose() * needed;
  const auto solver = reach.completeOrthogonalDecomposition();
  VecX<double> efforts = solver.solve(wanted);
  if ((reach * efforts - wanted).norm() > kOff * std::max(wanted.norm(), needed.norm()))
    throw InputError(
        {}, fmt::format("the actuators {} drive {} of {} degrees of freedom", listed(actuators), solver.rank(), N.cols()),
        "an actuator for each");
  return efforts;
}

InverseMotion inverse_motion(const std::shared_ptr<const Model>& model, std::vector<std::string> actuators,
                             const std::function<bool()>& go_on) {
  // What moves the tool does no work on the mechanism: it is left out of its equations, with motors of its own.
  const auto is_guide = [](const std::string& name) { return name.starts_with("motion of p."); };
  std::vector<char> drives(model->rows.size(), 0);
  std::vector<std::string> driven, guided;
  int freedoms = 0;
  for (const FrameClosure& closure : model->frame_closures)
    if (is_guide(closure.name)) std::fill_n(drives.begin() + closure.first_row, closure.row_count, 1);
  for (const Joint& joint : model->joints)
    if (is_guide(joint.name))
      for (const std::string& component : joint.kind->velocities) guided.push_back(coordinate_name(joint, component));
  for (const CoordinateClosure& closure : model->coordinate_closures) {
    const bool timed = std::ranges::any_of(closure.phi.slots, [](const Variable& s) { return s.kind == Variable::Kind::kTime; });
    const auto joints = std::ranges::count_if(closure.phi.slots, [](const Variable& s) { return s.is_coordinate(); });
    if (!timed || joints != 1) continue;
    drives[static_cast<std::size_t>(closure.row)] = 1;
    for (const Variable& slot : closure.phi.slots)
      if (slot.is_coordinate()) {
        const Joint& joint = model->joints[slot.coordinate.joint()];
        const auto k = static_cast<std::size_t>(slot.coordinate.component);
        ++freedoms;
        if (is_guide(joint.name)) continue;
        driven.push_back(coordinate_name(
            joint, slot.kind == Variable::Kind::kPosition ? joint.kind->positions[k] : joint.kind->velocities[k]));
      }
  }
  if (driven.empty() && actuators.empty() && !guided.empty())
    throw InputError({}, "the motion is that of a tool, and it is not said which joints have motors", "--actuators J1,J2");
  if (freedoms == 0)
    throw InputError(model->rows.empty() ? Place{model->file, 0, 0} : model->rows.front().place, "no joint is driven",
                     "a [[closure]] of type \"drive\", or --motion FILE.csv");
  InverseMotion result;
  result.actuators = actuators.empty() ? driven : std::move(actuators);
  result.freedoms = freedoms;
  std::vector<std::string> acting = result.actuators;
  acting.insert(acting.end(), guided.begin(), guided.end());
  if (std::ssize(result.actuators) > freedoms)
    result.notes.push_back(fmt::format("{} actuators move {} degrees of freedom: their efforts are those of least squares",
                                       result.actuators.size(), freedoms));
  const auto too_few = [&] {
    return InputError({}, fmt::format("the actuators {} cannot drive {} degrees of freedom", listed(result.actuators), freedoms),
                      "an actuator for each");
  };
  if (std::ssize(result.actuators) < freedoms) throw too_few();
  Evaluator evaluator(model);
  result.columns.push_back("t");
  for (const char* const prefix : {"effort.", "q.", "v.", "a."})
    for (const std::string& name : result.actuators) result.columns.push_back(prefix + name);
  Simulation motion = kinematic_motion(*model);
  const std::vector<std::string>& columns = motion.columns();
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin());
  };
  const Summary summary =
      motion.run({.row =
                      [&](std::span<const double> row) {
                        State state{row[0], VecX<double>(model->tree.nq), VecX<double>(model->tree.nv), 0.0, {}};
                        VecX<double> vdot(model->tree.nv);
                        for (const Joint& joint : model->joints) {
                          if (joint.cut) continue;
                          JointValues values;
                          for (std::size_t k = 0; k < joint.kind->positions.size(); ++k)
                            values.q[k] = row[column("q." + coordinate_name(joint, joint.kind->positions[k]))];
                          for (std::size_t k = 0; k < joint.kind->velocities.size(); ++k) {
                            const std::string name = coordinate_name(joint, joint.kind->velocities[k]);
                            values.v[k] = row[column("v." + name)];
                            values.a[k] = row[column("a." + name)];
                          }
                          JointPlace(model->tree, joint).write(values, state.q.data(), state.v.data(), vdot.data());
                        }
                        evaluator.evaluate(state, std::map<std::string, double>());
                        const VecX<double> efforts =
                            efforts_for(evaluator, vdot, acting, drives).head(std::ssize(result.actuators));
                        std::vector<double>& out = result.rows.emplace_back();
                        out.push_back(row[0]);
                        out.insert(out.end(), efforts.begin(), efforts.end());
                        for (const char* const prefix : {"q.", "v.", "a."})
                          for (const std::string& name : result.actuators) out.push_back(row[column(prefix + name)]);
                        result.largest_effort = std::max(result.largest_effort, efforts.cwiseAbs().maxCoeff());
                      },
                  .go_on = go_on});
  for (const std::string& warning : summary.warnings) result.notes.push_back(warning);
  if (!summary.completed && summary.status != kInterrupted) throw SimulationError(summary.status);
  return result;
}

}  // namespace linkwork
