#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "linkwork/dynamics/status.h"
#include "linkwork/simulation/remarks.h"
#include "linkwork/spatial/vector.h"

namespace linkwork {

class SwitchedPart;
struct ModuleEquations;

/// Motion of a port: where its frame is and how it moves, in world axes.
struct PortMotion {
  Mat3<double> R = Mat3<double>::Identity();
  Vec3<double> p = Vec3<double>::Zero();
  Vec3<double> w = Vec3<double>::Zero();
  Vec3<double> v = Vec3<double>::Zero();
};

/// What is asked for: accelerations; or the change of positions or velocities that brings a state back onto its constraints.
enum class Level { kPosition, kVelocity, kAcceleration };

/// How ports answer to forces on them: xdd = D Q + R, six numbers a port, angular part first, world axes, Q acting at the port's
/// origin. D is the inverse inertia seen at the ports, R what they do if nothing acts on them. R is an acceleration as an
/// observer at rest sees it; at the levels of position and velocity it is the change that the module's own constraints ask for,
/// which is to be subtracted.
struct PortResponse {
  explicit PortResponse(int ports) : D(MatX<double>::Zero(6 * ports, 6 * ports)), R(VecX<double>::Zero(6 * ports)), scale(R) {}

  MatX<double> D;
  VecX<double> R;
  VecX<double> scale;  // how large D's diagonal could be at other positions: what counts as zero is measured by it
};

/// How far a module is from meeting its own constraints, and how fast its coordinates move.
struct ModuleErrors {
  double position = 0.0;
  double velocity = 0.0;
  double speed = 0.0;
};

struct ModuleEnergy {
  double kinetic = 0.0;
  double potential = 0.0;
  double work = 0.0;  // done on the module since the start by what has no potential in it, forces on its ports included
};

/// A sum of squares of errors in units of their tolerances, and of how many.
struct WeighedError {
  double sum = 0.0, count = 0.0;
};

/// Sums of rates: see Module::glide().
struct Glide {
  VecX<double> moves, speeds, rest;
};

/// A part of a system, developed apart from the others and joined to them at its ports. Whatever computes behind this interface,
/// a glue cannot tell: it asks three questions, always in this order and at the same state, and nothing more.
///
/// The state is an array of numbers that mean something only to the module. It is integrated by others, and kept by them: the
/// module remembers nothing between evaluations that the motion depends on, so that steps can be rejected and runs resumed.
class Module {
 public:
  virtual ~Module() = default;

  virtual int port_count() const = 0;
  virtual int state_size() const = 0;
  /// How many of its numbers, the first ones, error control looks at.
  virtual int controlled_size() const { return state_size(); }
  virtual void start(VecX<double>& x) = 0;

  /// First question, kinematics: how the ports move at a state.
  virtual Status kinematics(double t, const VecX<double>& x, std::span<PortMotion> ports) = 0;
  /// Second question, response: how the ports answer to forces on them, there.
  virtual Status response(Level level, PortResponse& response) = 0;
  /// Third question, advance: the forces on the ports are Q. At the level of acceleration `out` becomes the rate of the state;
  /// at the others it is a state, which is corrected.
  virtual Status advance(Level level, const VecX<double>& Q, VecX<double>& out) = 0;

  /// The least and the largest mass in it, of modules that answer the next question. Where masses differ by decades D loses
  /// digits: the forces found by it are corrected by how the ports accelerate.
  virtual std::optional<std::pair<double, double>> masses() const { return {}; }
  /// How the ports accelerate with the forces of the last advance(), which may then be asked again with others.
  virtual void port_accelerations(VecX<double>& /*xdd*/) {}

  /// Whether it has an input of that name, which then keeps the value; nothing: it is as the module has it again.
  virtual bool set_input(const std::string& /*name*/, std::optional<double> /*value*/) { return false; }

  /// The state of the last kinematics() is where a step ended: what is to be warned of there?
  virtual void accept_step(Remarks& /*remarks*/) {}

  /// At the levels of position and velocity, what the smallest change of a state is: measured by its masses, or by its
  /// coordinates, in rad and in units of `length`. Returns whether the module can; all can measure by masses.
  virtual bool measure_changes(bool by_mass, double /*length*/) { return by_mass; }
  /// Parts of a state that the module takes for functions of the others are made so: at the state of the last kinematics().
  virtual void settle(VecX<double>& /*x*/) const {}

  /// How well the state of the last kinematics() meets the module's own constraints.
  virtual ModuleErrors errors() const { return {}; }
  /// Brings what integration leaves only approximately, such as the length of quaternions, back.
  virtual void normalize(VecX<double>& /*x*/) const {}

  /// Output: columns, and their values at the state of the last kinematics() with forces Q on the ports.
  virtual const std::vector<std::string>& columns() const {
    static const std::vector<std::string> none;
    return none;
  }
  virtual Status record(const VecX<double>& /*Q*/, std::span<double> /*row*/) { return {}; }
  /// At the state of the last kinematics().
  virtual ModuleEnergy energy() const { return {}; }
  /// Velocities less independent constraints, at the state of the last response().
  virtual int dof() const { return 0; }
  virtual int rank() const { return 0; }
  /// What was left there of its weakest row (rank.h).
  virtual double weakest() const { return 1.0; }
  virtual std::vector<std::string> redundant() const { return {}; }

  /// What its output depends on beside the state: turns that angles have made so far. Given back to a module of the same kind
  /// when a run is resumed.
  virtual std::vector<double> memory() const { return {}; }
  virtual void set_memory(const std::vector<double>& /*memory*/) {}

  /// The error of a step in units of the tolerances: each number's divided by atol + rtol max(|from|, |to|).
  virtual WeighedError weighed_error(const VecX<double>& from, const VecX<double>& to, const VecX<double>& error, double rtol,
                                     double atol);

  /// A state that was evaluated, as numbers for a file; nothing if it cannot be had any more. And back, in a module of the same
  /// kind.
  virtual std::vector<double> save(const VecX<double>& x) { return {x.begin(), x.end()}; }
  virtual bool accepts(const std::vector<double>& saved) { return std::ssize(saved) == state_size(); }
  virtual Status restore(const std::vector<double>& saved, VecX<double>& x);

  // For modules that compute elsewhere: every question is a journey, so they are told beforehand what will be asked, and the
  // state that others integrate only stands for one that is kept there.
  virtual bool is_elsewhere() const { return false; }
  /// kinematics() at this state will be asked next, then response() at this level; or record().
  virtual void expect(double /*t*/, const VecX<double>& /*x*/, Level /*level*/) {}
  virtual void expect_record(const VecX<double>& /*Q*/) {}
  /// Sends off what is expected of it and of others there.
  virtual void send() {}
  /// The state of the last kinematics() will be needed: the module may write it in another way.
  virtual void keep_state(VecX<double>& /*x*/) {}
  /// Steps go on from a state that was evaluated, with its rates: what came before is not needed any more.
  virtual void hold(double /*t*/, const VecX<double>& /*x*/, const VecX<double>& /*rates*/) {}
  /// What is evaluated from a mark on until it goes back there is not needed afterwards.
  virtual void mark() {}
  virtual void go_back_to_mark() {}
  /// Why there will be no answers any more; empty if there is hope.
  virtual std::string lost() const { return {}; }
  /// Journeys to its host so far, which it may share with others.
  virtual long round_trips() const { return 0; }
  virtual const void* host() const { return nullptr; }

  /// For what comes and goes, in it or elsewhere: null if the module cannot be told.
  virtual SwitchedPart* switched() { return nullptr; }
  /// For glues that need more than the three questions: the equations of motion themselves. Null: the module does not show them.
  virtual ModuleEquations* equations() { return nullptr; }

  /// For glues that step positions and velocities apart: which of its numbers are which the module knows itself.
  virtual bool glides() { return false; }
  /// Positions of `from` are displaced by h times its velocities and by the accelerations in `moves`, velocities increased by
  /// those in `speeds`, the rest by that in `rest`. `to` may be `from`.
  virtual void glide(const VecX<double>& /*from*/, double /*h*/, const Glide& /*by*/, VecX<double>& /*to*/) {}
  /// A sum of rates will be needed: the module may write it in another way.
  virtual void keep_sum(VecX<double>& /*rates*/) {}
  /// The largest acceleration in each of two sums of rates.
  virtual std::pair<double, double> largest_accelerations(const VecX<double>& /*a*/, const VecX<double>& /*b*/) { return {}; }
};

}  // namespace linkwork
