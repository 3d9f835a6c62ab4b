#include "linkwork/modules/glue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

enum Head { kTrouble, kPosition, kVelocity, kSpeed, kHeadSize };
constexpr int kMotionSize = 18;

}  // namespace

Status Glue::step(double, double, const States&, const States&, States&) {
  throw std::logic_error("this glue leaves the time stepping to an integrator");
}

/// In the order of leaves.
PairOfSums Glue::add_up(std::span<const PairOfSums> own) {
  std::vector<double> all(2 * workshop_.leaves().size(), 0.0);
  std::vector<int> ends;
  for (const int end : workshop_.placement().ends) ends.push_back(2 * end);
  double* to = all.data() + 2 * workshop_.placement().begin(workshop_.rank());
  for (const PairOfSums& pair : own) to = std::ranges::copy(pair, to).out;
  workshop_.transport().gather(all, ends);
  PairOfSums sums{};
  for (std::size_t k = 0; k < all.size(); k += 2) sums[0] += all[k], sums[1] += all[k + 1];
  return sums;
}

DriftControl drift_control(const Settings& settings) {
  const auto& entry = chosen_entry(stabilizations(), settings.stabilization, "stabilization");
  DriftControl control;
  control.tolerance = settings.constraint_tolerance;
  const std::string& name = entry.info.name;
  const Options options = complete_options(entry.info, settings.stabilization);
  const auto refuse = [&](const std::string& what) {
    throw InputError(settings.stabilization.place, what + " works on a system in one piece only",
                     "projection, position, velocity, baumgarte or none with modules that are solved apart, or glue \"none\"");
  };
  if (name == "projection" || name == "position" || name == "velocity") {
    control.positions = name != "velocity";
    control.velocities = name != "position";
    if (options.at("mass") == 0.0) refuse(fmt::format("stabilization '{}' with mass=0", name));
  } else if (name == "baumgarte") {
    control.on_rate = 2.0 * options.at("alpha");
    control.on_phi = options.at("beta") * options.at("beta");
  } else if (name != "none") {
    refuse(fmt::format("stabilization '{}'", name));
  }
  return control;
}

Status project_onto_constraints(Workshop& workshop, Hierarchy& hierarchy, const DriftControl& drift, double t, States& x,
                                bool* moved) {
  constexpr int kMostIterations = 10;
  const double good_enough = DriftControl::kGoodEnough * drift.tolerance;
  double before = drift.positions ? std::numeric_limits<double>::infinity() : 0.0;
  Level level = drift.positions ? Level::kPosition : Level::kVelocity;
  bool is_first = true;
  for (int i = 0;;) {
    if (Status status = hierarchy.up(t, x, level); !status.ok()) return status;
    const AssemblyErrors& errors = hierarchy.errors();
    if (is_first && moved != nullptr) *moved = drift.is_due(errors);
    if (is_first && !drift.is_due(errors)) return {};
    is_first = false;
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
                                    : fmt::format("module '{}'", workshop.plan().module_name(errors.worst_module));
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

PortBoard::PortBoard(Workshop& workshop) : workshop_(workshop), leaves_(workshop.leaves()) {
  const AssemblyPlan& plan = workshop.plan();
  for (const ModulePlan& module : plan.modules) motion_.emplace_back(at(module.port_count));
  int size = 0;
  for (int rank = 0; rank < workshop.transport().size(); ++rank) {
    size += kHeadSize;
    for (int leaf = workshop.placement().begin(rank); leaf < workshop.placement().end(rank); ++leaf)
      size += kMotionSize * plan.modules[at(leaves_[at(leaf)])].port_count;
    ends_.push_back(size);
  }
  message_.assign(at(size), 0.0);
}

Status PortBoard::exchange(AssemblyErrors& errors) {
  errors = {};
  double* const head = &message_[at(workshop_.rank() == 0 ? 0 : ends_[at(workshop_.rank() - 1)])];
  std::fill_n(head, +kHeadSize, 0.0);
  head[kTrouble] = workshop_.trouble().empty() ? 0.0 : 1.0;
  double* to = head + kHeadSize;
  for (WorkingModule& module : workshop_.modules()) {
    const ModuleErrors own = module.module->errors();
    head[kPosition] = std::max(head[kPosition], own.position);
    head[kVelocity] = std::max(head[kVelocity], own.velocity);
    head[kSpeed] = std::max(head[kSpeed], own.speed);
    for (const PortMotion& motion : module.motion) {
      to = std::copy_n(motion.R.data(), 9, to);
      to = std::copy_n(motion.p.data(), 3, to);
      to = std::copy_n(motion.w.data(), 3, to);
      to = std::copy_n(motion.v.data(), 3, to);
    }
  }
  workshop_.transport().gather(message_, ends_);
  bool trouble = false;
  const double* from = message_.data();
  for (int rank = 0; rank < workshop_.transport().size(); ++rank) {
    trouble = trouble || from[kTrouble] != 0.0;
    errors.position = std::max(errors.position, from[kPosition]);
    errors.velocity = std::max(errors.velocity, from[kVelocity]);
    errors.speed = std::max(errors.speed, from[kSpeed]);
    from += kHeadSize;
    for (int leaf = workshop_.placement().begin(rank); leaf < workshop_.placement().end(rank); ++leaf)
      for (PortMotion& motion : motion_[at(leaves_[at(leaf)])]) {
        std::copy_n(from, 9, motion.R.data());
        std::copy_n(from + 9, 3, motion.p.data());
        std::copy_n(from + 12, 3, motion.w.data());
        std::copy_n(from + 15, 3, motion.v.data());
        from += kMotionSize;
      }
  }
  if (!trouble) return {};
  Status status{workshop_.everyones_trouble()};
  workshop_.clear_trouble();
  return status;
}

const PortMotion& PortBoard::motion(const PortRef& port) const { return motion_[at(port.module)][at(port.port)]; }

const PortMotion PortBoard::motion_of_a(const Connection& connection) const {
  return connection.a.is_ground() ? resting(connection.ground_a) : motion(connection.a);
}

const PortMotion PortBoard::motion_of_b(const Connection& connection) const {
  return connection.b.is_ground() ? resting(connection.ground_b) : motion(connection.b);
}

}  // namespace linkwork
