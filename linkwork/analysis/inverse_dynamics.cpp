#include "linkwork/analysis/inverse_dynamics.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/redundancy.h"
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
  VecX<double> units;
  rank_units(at.system(), units);
  const MatX<double> A = at.system().jacobian()(rows, Eigen::all), bounds = at.system().jacobian_bounds()(rows, Eigen::all);
  std::vector<char> dependent(rows.size(), 0);
  RankTest test;
  dependent_rows(A, bounds, units.cwiseAbs2(), test, dependent);
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

/// Efforts of least squares, and what they leave of the forces that vdot takes: along the free directions, by coordinate.
struct Shared {
  VecX<double> efforts, lacking, needed;
  Eigen::Index rank = 0, freedoms = 0;
};

Shared share_efforts(Evaluator& at, const VecX<double>& vdot, const std::vector<std::string>& actuators,
                     std::span<const char> without) {
  const Tree& tree = at.model().tree;
  if (vdot.size() != tree.nv || !vdot.allFinite())
    throw InputError({}, fmt::format("there are {} accelerations", vdot.size()), fmt::format("{} finite numbers", tree.nv));
  const std::vector<int> rows = rows_that_count(at, without);
  check_allowed(at, vdot, rows);
  at.refresh();
  Shared shared;
  shared.needed.resize(tree.nv);
  inverse_dynamics(tree, vdot.data(), at.system().work(), shared.needed);
  shared.needed -= at.system().work().tau;
  if (actuators.empty() && rows.empty()) {
    shared.efforts = shared.needed;
    shared.lacking = VecX<double>::Zero(tree.nv);
    return shared;
  }
  const MatX<double> N = free_directions(at, rows);
  const MatX<double> reach = actuators.empty() ? MatX<double>(N.transpose()) : N.transpose() * directions_of(at, actuators);
  const VecX<double> wanted = N.transpose() * shared.needed;
  const auto solver = reach.completeOrthogonalDecomposition();
  shared.efforts = solver.solve(wanted);
  shared.lacking = N * (wanted - reach * shared.efforts);
  shared.rank = solver.rank(), shared.freedoms = N.cols();
  return shared;
}

/// What moves the tool, or a body that floats, does no work on the mechanism: it is left out of its equations, with motors of its
/// own.
bool is_guide(const std::string& name) { return name.starts_with("motion of p.") || name.starts_with("motion of q."); }
std::string guide_of(const Joint& joint) { return "motion of q." + joint.name; }

/// A motion as it is asked for: which rows drive it, and what they drive.
struct Drives {
  explicit Drives(const Model& model) : rows(model.rows.size(), 0) {
    for (const FrameClosure& closure : model.frame_closures)
      if (is_guide(closure.name)) std::fill_n(rows.begin() + closure.first_row, closure.row_count, 1);
    for (const Joint& joint : model.joints)
      if (is_guide(joint.name))
        for (const std::string& component : joint.kind->velocities) guided.push_back(coordinate_name(joint, component));
    for (const CoordinateClosure& closure : model.coordinate_closures) add(model, closure);
    for (const Joint& joint : model.joints) {
      const bool on_ground = joint.parent.node == 0 || joint.child.node == 0;
      if (joint.kind->rows.empty() && joint.kind->has_quaternion() && on_ground && !is_guide(joint.name))
        (has_guide(model, joint) ? led : floating).push_back(&joint);
    }
  }

  std::vector<char> rows;                   // by row
  std::vector<std::string> driven, guided;  // coordinates; those of guides
  int freedoms = 0;                         // that are driven
  std::vector<const Joint*> led, floating;  // bodies that float: with a motion given for them, or without

 private:
  static bool has_guide(const Model& model, const Joint& joint) {
    return std::ranges::find(model.frame_closures, guide_of(joint), &FrameClosure::name) != model.frame_closures.end();
  }
  void add(const Model& model, const CoordinateClosure& closure) {
    const bool timed = std::ranges::any_of(closure.phi.slots, [](const Variable& s) { return s.kind == Variable::Kind::kTime; });
    const auto joints = std::ranges::count_if(closure.phi.slots, [](const Variable& s) { return s.is_coordinate(); });
    if (!timed || joints != 1) return;
    rows[static_cast<std::size_t>(closure.row)] = 1;
    for (const Variable& slot : closure.phi.slots)
      if (slot.is_coordinate()) {
        const Joint& joint = model.joints[slot.coordinate.joint()];
        const auto k = static_cast<std::size_t>(slot.coordinate.component);
        ++freedoms;
        if (is_guide(joint.name)) continue;
        driven.push_back(coordinate_name(
            joint, slot.kind == Variable::Kind::kPosition ? joint.kind->positions[k] : joint.kind->velocities[k]));
      }
  }
};

/// Of a joint all coordinates, of anything else itself.
std::vector<std::string> coordinates_of(const Model& model, const std::vector<std::string>& names) {
  std::vector<std::string> coordinates;
  for (const std::string& name : names) {
    const auto joint = std::ranges::find(model.joints, name, &Joint::name);
    if (joint == model.joints.end())
      coordinates.push_back(name);
    else
      for (const std::string& component : joint->kind->velocities) coordinates.push_back(coordinate_name(*joint, component));
  }
  return coordinates;
}

/// The drives as constraints of a run, with exact methods.
Simulation motion_as_run(const Model& model) {
  Model run = model;
  run.settings.coordinates = {"TA", {}, {}};
  run.settings.formulation = {"auto", {}, {}};
  run.settings.stabilization = {"projection", {}, {}};
  return Simulation(std::move(run));
}

/// Whether the drives leave bodies that float to themselves. Throws InputError if they leave anything else so.
bool floats(const Model& model, const Drives& drives) {
  if (drives.floating.empty()) return false;
  Simulation start = motion_as_run(model);
  start.advance_to(0.0);
  Evaluator at(std::make_shared<const Model>(model));
  at.evaluate(start.state());
  const MatX<double> N = free_directions(at, rows_that_count(at, {}));
  if (N.cols() == 0) return false;
  std::vector<char> is_base(static_cast<std::size_t>(model.tree.nv), 0);
  for (const Joint* const joint : drives.floating)
    for (const int v : JointPlace(model.tree, *joint).v) is_base[static_cast<std::size_t>(v)] = 1;
  MatX<double> of_bases = N;
  for (Eigen::Index i = 0; i < N.rows(); ++i)
    if (is_base[static_cast<std::size_t>(i)] == 0) of_bases.row(i).setZero();
  Eigen::FullPivLU<MatX<double>> lu(of_bases);
  lu.setThreshold(1e-9);
  if (lu.rank() == N.cols()) return true;
  const MatX<double> others = N * lu.kernel();
  std::vector<std::string> names;
  for (int i = 0; i < model.tree.nv; ++i)
    if (others.row(i).norm() > 1e-6) names.push_back("'" + model.velocity_name(i) + "'");
  throw InputError({model.file, 0, 0}, fmt::format("the drives leave {} free, beside what floats", listed(names)),
                   "a drive, or a column of the motion, for each degree of freedom but those of the base");
}

/// Reads positions, velocities and accelerations of the tree off rows of a run.
class MotionRows {
 public:
  MotionRows(const Model& model, const std::vector<std::string>& columns) : model_(model), columns_(columns) {}

  bool has(const std::string& name) const { return std::ranges::find(columns_, name) != columns_.end(); }
  double value(std::span<const double> row, const std::string& name) const {
    return row[static_cast<std::size_t>(std::ranges::find(columns_, name) - columns_.begin())];
  }
  void read(std::span<const double> row, State& state, VecX<double>& vdot) const {
    state = {row[0], VecX<double>(model_.tree.nq), VecX<double>(model_.tree.nv), 0.0, {}};
    vdot.resize(model_.tree.nv);
    for (const Joint& joint : model_.joints) {
      if (joint.cut) continue;
      JointValues values;
      for (std::size_t k = 0; k < joint.kind->positions.size(); ++k)
        values.q[k] = value(row, "q." + coordinate_name(joint, joint.kind->positions[k]));
      for (std::size_t k = 0; k < joint.kind->velocities.size(); ++k) {
        const std::string name = coordinate_name(joint, joint.kind->velocities[k]);
        values.v[k] = value(row, "v." + name);
        values.a[k] = value(row, "a." + name);
      }
      JointPlace(model_.tree, joint).write(values, state.q.data(), state.v.data(), vdot.data());
    }
  }

 private:
  const Model& model_;
  const std::vector<std::string>& columns_;
};

/// What no actuator gives, over a motion: how much at most, as work along the units of coordinates, and on which coordinates.
class Lacking {
 public:
  explicit Lacking(const Model& model) : model_(model), units_(model.units.velocity) {
    for (const Joint& joint : model.joints)
      if (is_guide(joint.name))
        for (const int v : joint.v) units_[v] = 0.0;  // of no account
  }

  void add(double t, const Shared& shared) {
    needed_ = std::max(needed_, shared.needed.cwiseProduct(units_).norm());
    rows_.push_back({t, shared.lacking.cwiseProduct(units_).norm(), shared.lacking});
    rank_ = shared.rank, freedoms_ = shared.freedoms;
  }
  /// Looks for the worst row. Recorded motions end in splines without curvature, which tell nothing about their first and last
  /// rows.
  void judge(bool recorded) {
    constexpr std::size_t kEnds = 10;
    const std::size_t ends = recorded && rows_.size() > 4 * kEnds ? kEnds : 0;
    for (std::size_t r = ends; r + ends < rows_.size(); ++r)
      if (worst_ == nullptr || rows_[r].size > worst_->size) worst_ = &rows_[r];
  }
  double share() const { return worst_ != nullptr && needed_ > 0.0 ? worst_->size / needed_ : 0.0; }
  Eigen::Index rank() const { return rank_; }
  Eigen::Index freedoms() const { return freedoms_; }
  std::string in_words() const {
    const VecX<double> work = worst_->forces.cwiseProduct(units_).cwiseAbs();
    std::vector<std::string> parts;
    for (int i = 0; i < model_.tree.nv; ++i)
      if (work[i] > 0.1 * work.maxCoeff() && parts.size() < 6)
        parts.push_back(fmt::format("{:.3g} along '{}'", worst_->forces[i], model_.velocity_name(i)));
    return fmt::format("{} at t = {:.6g} s", listed(parts), worst_->t);
  }

 private:
  const Model& model_;
  VecX<double> units_;
  struct Row {
    double t = 0.0, size = 0.0;
    VecX<double> forces;
  };
  double needed_ = 0.0;
  std::vector<Row> rows_;
  const Row* worst_ = nullptr;
  Eigen::Index rank_ = 0, freedoms_ = 0;
};

std::string names_of(const std::vector<const Joint*>& joints) {
  std::vector<std::string> names;
  for (const Joint* const joint : joints) names.push_back("'" + joint->name + "'");
  return listed(names);
}

}  // namespace

VecX<double> efforts_for(Evaluator& at, const VecX<double>& vdot, const std::vector<std::string>& actuators,
                         std::span<const char> without) {
  constexpr double kOff = 1e-9;
  Shared shared = share_efforts(at, vdot, actuators, without);
  if (shared.lacking.norm() > kOff * shared.needed.norm())
    throw InputError(
        {}, fmt::format("the actuators {} drive {} of {} degrees of freedom", listed(actuators), shared.rank, shared.freedoms),
        "an actuator for each");
  return std::move(shared.efforts);
}

InverseMotion inverse_motion(const std::shared_ptr<const Model>& model, std::vector<std::string> actuators,
                             const std::function<bool()>& go_on) {
  constexpr double kExact = 1e-9, kFollows = 1e-2;
  const Drives drives(*model);
  if (drives.driven.empty() && actuators.empty() && !drives.guided.empty())
    throw InputError({}, "the motion is that of a tool, and it is not said which joints have motors", "--actuators J1,J2");
  if (drives.freedoms == 0)
    throw InputError(model->rows.empty() ? Place{model->file, 0, 0} : model->rows.front().place, "no joint is driven",
                     "a [[closure]] of type \"drive\", or --motion FILE.csv");
  InverseMotion result;
  result.actuators = actuators.empty() ? drives.driven : coordinates_of(*model, actuators);
  result.freedoms = drives.freedoms;
  std::vector<std::string> acting = result.actuators;
  acting.insert(acting.end(), drives.guided.begin(), drives.guided.end());
  const auto count = static_cast<int>(result.actuators.size());
  if (count > drives.freedoms)
    result.notes.push_back(
        fmt::format("{} actuators move {} degrees of freedom: their efforts are those of least squares", count, drives.freedoms));
  if (count < drives.freedoms && drives.led.empty())
    throw InputError(
        {}, fmt::format("the actuators {} cannot drive {} degrees of freedom", listed(result.actuators), drives.freedoms),
        "an actuator for each");
  const bool is_dynamic = floats(*model, drives);
  if (is_dynamic)
    result.notes.push_back(
        fmt::format("what floats has no motors: {} moves as the equations of motion make it", names_of(drives.floating)));
  Evaluator evaluator(model);
  // With bodies that float left to themselves the motion is that of a run; else it follows from the drives alone.
  Simulation motion = is_dynamic ? motion_as_run(*model) : kinematic_motion(*model);
  const std::vector<std::string> columns = motion.system().columns();
  const MotionRows rows(*model, columns);
  result.columns.push_back("t");
  for (const std::string& name : result.actuators) result.columns.push_back("effort." + name);
  for (const char* const prefix : {"q.", "v.", "a."})
    for (const std::string& name : result.actuators)
      if (rows.has(prefix + name)) result.columns.push_back(prefix + name);  // a turn in space has no position of its own
  Lacking lacking(*model);
  State state;
  VecX<double> vdot;
  const auto take_row = [&](std::span<const double> row) {
    rows.read(row, state, vdot);
    if (is_dynamic && model->has_events()) evaluator.set_modes(&motion.equations().system().modes());
    evaluator.evaluate(state, std::map<std::string, double>());
    const Shared shared = share_efforts(evaluator, vdot, acting, drives.rows);
    lacking.add(row[0], shared);
    std::vector<double>& out = result.rows.emplace_back();
    out.push_back(row[0]);
    out.insert(out.end(), shared.efforts.begin(), shared.efforts.begin() + count);
    for (std::size_t c = out.size(); c < result.columns.size(); ++c) out.push_back(rows.value(row, result.columns[c]));
    result.largest_effort = std::max(result.largest_effort, shared.efforts.head(count).cwiseAbs().maxCoeff());
  };
  const Summary summary = motion.run({.whole_row = take_row, .go_on = go_on});
  for (const std::string& warning : summary.warnings) result.notes.push_back(warning);
  if (!summary.completed && summary.status != kInterrupted) throw SimulationError(summary.status);
  lacking.judge(!drives.led.empty());
  const int guides = static_cast<int>(drives.guided.size());  // which have motors of their own
  if (lacking.share() > (drives.led.empty() ? kExact : kFollows))
    throw InputError(
        {},
        fmt::format("the actuators {} drive {} of {} degrees of freedom; the motion takes {} that none of them gives",
                    listed(result.actuators), lacking.rank() - guides, lacking.freedoms() - guides, lacking.in_words()),
        drives.led.empty() ? "an actuator for each"
                           : fmt::format("a motion that these can make, the motion of the joints alone, so that {} "
                                         "moves as it must, or actuators on it too",
                                         names_of(drives.led)));
  if (lacking.share() > kExact)
    result.notes.push_back(fmt::format("{} has no motors: what the motion takes there beyond them, {}, was left out",
                                       names_of(drives.led), lacking.in_words()));
  return result;
}

}  // namespace linkwork
