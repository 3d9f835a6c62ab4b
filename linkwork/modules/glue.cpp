#include "linkwork/modules/glue.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "linkwork/linalg/index.h"
#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

namespace {

enum BoardHead { kBoardTrouble, kBoardPosition, kBoardVelocity, kBoardSpeed, kBoardHeadSize };

/// The largest eigenvalue of a block of an inverse inertia.
double most(const Eigen::Ref<const Mat3<double>, 0, Eigen::OuterStride<>>& block) {
  const Mat3<double> symmetric = 0.5 * (block + block.transpose());
  return std::max(
      0.0, Eigen::SelfAdjointEigenSolver<Mat3<double>>().computeDirect(symmetric, Eigen::EigenvaluesOnly).eigenvalues()[2]);
}

}  // namespace

Status Glue::step(double, double, const States&, const States&, States&) {
  throw std::logic_error("this glue leaves the time stepping to an integrator");
}

/// In the order of leaves.
PairOfSums Glue::add_up(std::span<const PairOfSums> own) {
  added_up_.assign(2 * at(workshop_.leaf_count()), 0.0);
  added_up_ends_.clear();
  for (const int end : workshop_.placement().ends) added_up_ends_.push_back(2 * end);
  double* to = added_up_.data() + 2 * workshop_.placement().begin(workshop_.rank());
  for (const PairOfSums& pair : own) to = std::ranges::copy(pair, to).out;
  workshop_.transport().gather(added_up_, added_up_ends_);
  PairOfSums sums{};
  for (std::size_t k = 0; k < added_up_.size(); k += 2) sums[0] += added_up_[k], sums[1] += added_up_[k + 1];
  return sums;
}

DriftControl drift_control(const Settings& settings) {
  const auto& entry = chosen_entry(stabilizations(), settings.stabilization, "stabilization");
  const Options options = complete_options(entry.info, settings.stabilization);
  DriftControl control;
  control.tolerance = settings.constraint_tolerance;
  control.good_enough = 0.01 * std::min(settings.constraint_tolerance, settings.rtol);
  control.positions = entry.traits.holds_positions;
  control.velocities = entry.traits.holds_velocities;
  if (const auto mass = options.find("mass"); mass != options.end()) control.by_mass = mass->second != 0.0;
  if (const auto times = options.find("times"); times != options.end()) control.times = static_cast<int>(times->second);
  if (entry.info.name == "baumgarte") {
    control.on_rate = 2.0 * options.at("alpha");
    control.on_phi = options.at("beta") * options.at("beta");
  }
  return control;
}

namespace {

/// A fixed number of corrections, each of positions, then of velocities there.
Status correct_states(Workshop& workshop, Hierarchy& hierarchy, int times, double t, States& x) {
  for (int i = 0; i < times; ++i)
    for (const Level level : {Level::kPosition, Level::kVelocity}) {
      if (Status status = hierarchy.up(t, x, level); !status.ok()) return status;
      hierarchy.down();
      workshop.advance(level, x);
    }
  return {};
}

}  // namespace

Status project_onto_constraints(Workshop& workshop, Hierarchy& hierarchy, const DriftControl& drift, double t, States& x,
                                bool closely) {
  constexpr int kMostIterations = 10;
  for (WorkingModule& module : workshop.modules()) module.module->measure_changes(drift.by_mass, workshop.plan().length);
  if (drift.times > 0) return correct_states(workshop, hierarchy, drift.times, t, x);
  const double good_enough = closely ? 0.0 : drift.good_enough;
  double before = drift.positions ? std::numeric_limits<double>::infinity() : 0.0;
  Level level = drift.positions ? Level::kPosition : Level::kVelocity;
  for (int i = 0;;) {
    if (Status status = hierarchy.up(t, x, level); !status.ok()) return status;
    const AssemblyErrors& errors = hierarchy.errors();
    const bool can_improve = errors.position > good_enough && errors.position <= 0.5 * before && i < kMostIterations;
    if (level == Level::kPosition && can_improve) {
      before = errors.position;
      ++i;
      hierarchy.down();
      workshop.advance(Level::kPosition, x);
      level = drift.velocities ? Level::kVelocity : Level::kPosition;  // as a rule one correction is enough
      continue;
    }
    if (level == Level::kVelocity && can_improve) {
      level = Level::kPosition;
      continue;
    }
    if (drift.positions && errors.position > drift.tolerance) {
      const std::string worst = errors.worst_module < 0
                                    ? "a connection between modules"
                                    : fmt::format("module '{}'", workshop.everyones_name(errors.worst_module));
      return {fmt::format(
          "the constraints cannot all be met: {} is off by {:.3g}; they contradict one another, or the mechanism has come to "
          "the end of its reach",
          worst, errors.position)};
    }
    if (!drift.velocities || errors.velocity <= good_enough * errors.speed) return {};
    if (level == Level::kPosition) {
      level = Level::kVelocity;
      before = 0.0;
      continue;
    }
    hierarchy.down();
    workshop.advance(Level::kVelocity, x);
    return {};
  }
}

Status close_joints(Workshop& workshop, double tolerance, double t, States& x, std::vector<std::string>& notes) {
  constexpr int kMostIterations = 50;
  Hierarchy hierarchy(workshop);
  double open = 0.0, moving = 0.0;  // at first
  for (int i = 0;; ++i) {
    if (Status status = hierarchy.up(t, x, Level::kPosition); !status.ok()) return status;
    const AssemblyErrors& errors = hierarchy.errors();
    if (i == 0) open = errors.position;
    if (errors.position <= tolerance) break;
    if (i == kMostIterations || !std::isfinite(errors.position))
      return {
          fmt::format("the modules cannot be joined near where each of them starts: a joint is open by {:.3g} m or rad, {:.3g} "
                      "after {} corrections; give starts that are closer",
                      open, errors.position, i)};
    hierarchy.down();
    workshop.advance(Level::kPosition, x);
  }
  if (Status status = hierarchy.up(t, x, Level::kVelocity); !status.ok()) return status;
  moving = hierarchy.errors().velocity;
  if (moving > tolerance * std::max(1.0, hierarchy.errors().speed)) {
    hierarchy.down();
    workshop.advance(Level::kVelocity, x);
  }
  if (open > tolerance || moving > tolerance)
    notes.push_back(
        fmt::format("the start was closed through the ports of the modules: joints were open by {:.3g} and moved apart by {:.3g}",
                    open, moving));
  return {};
}

PortBoard::PortBoard(Workshop& workshop) : workshop_(workshop), leaves_(workshop.leaves()) {
  const AssemblyPlan& plan = workshop.plan();
  for (const ModulePlan& module : plan.modules) {
    motion_.emplace_back(at(module.port_count));
    ease_.emplace_back(at(module.port_count));
  }
  int size = 0;
  for (int rank = 0; rank < workshop.transport().size(); ++rank) {
    size += kBoardHeadSize;
    for (int leaf = workshop.placement().begin(rank); leaf < workshop.placement().end(rank); ++leaf)
      size += kNumbersPerPort * plan.modules[at(leaves_[at(leaf)])].port_count;
    ends_.push_back(size);
  }
  message_.assign(at(size), 0.0);
}

Status PortBoard::exchange(AssemblyErrors& errors) {
  errors = {};
  double* const head = &message_[at(workshop_.rank() == 0 ? 0 : ends_[at(workshop_.rank() - 1)])];
  std::fill_n(head, +kBoardHeadSize, 0.0);
  head[kBoardTrouble] = workshop_.trouble().empty() ? 0.0 : 1.0;
  double* to = head + kBoardHeadSize;
  for (WorkingModule& module : workshop_.modules()) {
    const ModuleErrors own = module.module->errors();
    head[kBoardPosition] = std::max(head[kBoardPosition], own.position);
    head[kBoardVelocity] = std::max(head[kBoardVelocity], own.velocity);
    head[kBoardSpeed] = std::max(head[kBoardSpeed], own.speed);
    for (std::size_t port = 0; port < module.motion.size(); ++port) {
      const PortMotion& motion = module.motion[port];
      to = std::copy_n(motion.R.data(), 9, to);
      to = std::copy_n(motion.p.data(), 3, to);
      to = std::copy_n(motion.w.data(), 3, to);
      to = std::copy_n(motion.v.data(), 3, to);
      const auto first = 6 * static_cast<Eigen::Index>(port);
      *to++ = most(module.response.D.block<3, 3>(first, first));
      *to++ = most(module.response.D.block<3, 3>(first + 3, first + 3));
    }
  }
  workshop_.transport().gather(message_, ends_);
  bool trouble = false;
  const double* from = message_.data();
  for (int rank = 0; rank < workshop_.transport().size(); ++rank) {
    trouble = trouble || from[kBoardTrouble] != 0.0;
    errors.position = std::max(errors.position, from[kBoardPosition]);
    errors.velocity = std::max(errors.velocity, from[kBoardVelocity]);
    errors.speed = std::max(errors.speed, from[kBoardSpeed]);
    from += kBoardHeadSize;
    for (int leaf = workshop_.placement().begin(rank); leaf < workshop_.placement().end(rank); ++leaf) {
      const std::size_t module = at(leaves_[at(leaf)]);
      for (std::size_t port = 0; port < motion_[module].size(); ++port) {
        PortMotion& motion = motion_[module][port];
        std::copy_n(from, 9, motion.R.data());
        std::copy_n(from + 9, 3, motion.p.data());
        std::copy_n(from + 12, 3, motion.w.data());
        std::copy_n(from + 15, 3, motion.v.data());
        ease_[module][port] = {from[18], from[19]};
        from += kNumbersPerPort;
      }
    }
  }
  if (!trouble) return {};
  Status status{workshop_.everyones_trouble()};
  workshop_.clear_trouble();
  return status;
}

const PortMotion& PortBoard::motion(const PortRef& port) const { return motion_[at(port.module)][at(port.port)]; }

const PortEase& PortBoard::ease(const PortRef& port) const { return ease_[at(port.module)][at(port.port)]; }

const PortMotion PortBoard::motion_of_a(const Connection& connection) const {
  return connection.a.is_ground() ? resting(connection.ground_a) : motion(connection.a);
}

const PortMotion PortBoard::motion_of_b(const Connection& connection) const {
  return connection.b.is_ground() ? resting(connection.ground_b) : motion(connection.b);
}

}  // namespace linkwork
