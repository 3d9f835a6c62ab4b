#include "tests/attack/random_assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "linkwork/model/binding.h"
#include "linkwork/modules/model_run.h"
#include "tests/attack/dense_oracle.h"
#include "tests/attack/random_mechanism.h"

namespace linkwork::test {

namespace {

class Cutter {
 public:
  Cutter(std::uint64_t seed, bool events)
      : engine_(seed * 0x9E3779B97F4A7C15ull + 17), spec_(random_mechanism(seed)), events_(events) {
    engine_.discard(8);
    spec_.settings.end = 0.03;
    spec_.settings.step = 1e-3;
    spec_.settings.output_every = 1e-2;
    spec_.settings.coordinates = {"TA", {}, {}};
  }

  Spec make() {
    for (BodySpec& body : spec_.bodies) {
      const double size = 0.1 + body.inertia.trace() / body.mass;
      body.inertia += 0.05 * body.mass * size * Eigen::Matrix3d::Identity();
    }
    const DenseOracle oracle(spec_);
    assign();
    for (JointSpec& joint : spec_.joints) rename(joint.parent), rename(joint.child);
    for (ClosureSpec& closure : spec_.closures) rename(closure.a), rename(closure.b);
    for (ForceSpec& force : spec_.forces) rename(force.a), rename(force.b);
    for (SensorSpec& sensor : spec_.sensors) rename(sensor.frame), rename(sensor.b);
    std::map<std::string, FrameMotion> motion;
    for (BodySpec& body : spec_.bodies) {
      motion.emplace(name_.at(body.name), oracle.body(body.name));
      body.name = name_.at(body.name);
    }
    hang_on_ground(motion);
    if (events_) add_events();
    return spec_;
  }

 private:
  double uniform(double low, double high) { return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53; }
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  bool chance(double p) { return uniform(0.0, 1.0) < p; }

  static std::string module_of(const std::string& body) { return body.substr(0, body.rfind('.')); }

  /// Two to four modules, the second of which may be part of the first; neighbours often stay together.
  void assign() {
    const int count = 2 + below(3);
    const bool nested = count > 2 && chance(0.3);
    for (int m = 0; m < count; ++m) {
      ModuleSpec module;
      module.name = nested && m == 1 ? "m0.m1" : fmt::format("m{}", m);
      module.parent = nested && m == 1 ? 0 : -1;
      spec_.modules.push_back(module);
    }
    int last = 0;
    for (BodySpec& body : spec_.bodies) {
      if (chance(0.6)) last = below(count);
      body.module = last;
      name_[body.name] = spec_.modules[static_cast<std::size_t>(last)].name + "." + body.name;
    }
    name_["ground"] = "ground";
    name_[""] = "";
  }

  void rename(FrameSpec& frame) { frame.body = name_.at(frame.body); }

  static bool is_within_one(const JointSpec& joint) {
    return joint.parent.body == "ground" || joint.child.body == "ground" ||
           module_of(joint.parent.body) == module_of(joint.child.body);
  }

  void hang_on_ground(const std::map<std::string, FrameMotion>& motion) {
    std::set<std::string> reached{"ground"};
    const auto reach = [&] {
      for (bool more = true; more;) {
        more = false;
        for (const JointSpec& joint : spec_.joints) {
          if (joint.cut || !is_within_one(joint) || reached.contains(joint.parent.body) == reached.contains(joint.child.body))
            continue;
          reached.insert({joint.parent.body, joint.child.body});
          more = true;
        }
      }
    };
    for (const BodySpec& body : spec_.bodies) {
      reach();
      if (reached.contains(body.name)) continue;
      const FrameMotion& X = motion.at(body.name);
      const Eigen::Quaterniond turn(Eigen::Matrix3d(X.R.cast<double>()));
      const Eigen::Vector3d p = X.p.cast<double>(), v = X.v.cast<double>(), w = (X.R.transpose() * X.w).cast<double>();
      JointSpec free;
      free.name = "free " + body.name.substr(body.name.rfind('.') + 1);
      std::ranges::replace(free.name, ' ', '_');
      free.type = "free";
      free.parent.body = "ground";
      free.child.body = body.name;
      free.position = {p.x(), p.y(), p.z(), turn.w(), turn.x(), turn.y(), turn.z()};
      free.velocity = {v.x(), v.y(), v.z(), w.x(), w.y(), w.z()};
      spec_.joints.push_back(free);
    }
  }

  void add_events() {
    for (JointSpec& joint : spec_.joints) {
      const bool single = joint.type == "revolute" || joint.type == "prismatic";
      if (!single || joint.position.size() != 1) continue;
      const double q = joint.position[0], v = joint.velocity.size() == 1 ? joint.velocity[0] : 0.0;
      if (chance(0.3)) {
        const double kinetic = std::pow(10.0, uniform(-2.0, 1.0));
        joint.dry_friction = FrictionSpec{kinetic * uniform(1.0, 1.5), kinetic, 0.0, 0.0, {}};
      }
      if (chance(0.3)) {
        const double room = std::max(1e-3, std::abs(v) * uniform(0.003, 0.02));
        joint.limits = {q - room, q + room};
        joint.restitution = chance(0.3) ? 0.0 : uniform(0.2, 0.9);
      }
    }
  }

  std::mt19937_64 engine_;
  Spec spec_;
  bool events_;
  std::map<std::string, std::string> name_;
};

/// Of "joint.component".
bool is_of_rotation(const Spec& spec, const std::string& coordinate) {
  const std::size_t dot = coordinate.rfind('.');
  const auto joint = std::ranges::find(spec.joints, coordinate.substr(0, dot), &JointSpec::name);
  if (dot == std::string::npos || joint == spec.joints.end()) return false;
  return joint->type == "spherical" || (joint->type == "free" && coordinate[dot + 1] == 'q');
}

std::map<std::string, std::size_t> places(const std::vector<std::string>& columns) {
  std::map<std::string, std::size_t> place;
  for (std::size_t c = 0; c < columns.size(); ++c) place[columns[c]] = c;
  return place;
}

}  // namespace

Spec random_assembly(std::uint64_t seed, bool events) { return Cutter(seed, events).make(); }

namespace {

struct Way {
  const char *name, *formulation, *coordinates, *stabilization, *integrator;
  bool events;
};
const std::vector<Way> kWays{
    {"smooth", "auto", "auto", "projection", "rk4", false},   {"events", "auto", "auto", "projection", "rk4", true},
    {"post", "auto", "auto", "post:mass=1", "rk4", false},    {"nullspace", "nullspace-qr", "auto", "projection", "rk4", false},
    {"FA", "auto", "FA", "projection", "rk4", false},         {"CE", "auto", "CE", "projection", "rk4", false},
    {"bdf", "auto", "auto", "projection", "cvode-bdf", false}};

}  // namespace

const std::vector<std::string>& assembly_modes() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Way& way : kWays) all.emplace_back(way.name);
    return all;
  }();
  return names;
}

Spec assembly_in(const std::string& mode, std::uint64_t seed) {
  const auto way = std::ranges::find(kWays, mode, &Way::name);
  if (way == kWays.end()) throw InputError({}, fmt::format("there is no mode '{}'", mode));
  Spec spec = random_assembly(seed, way->events);
  spec.settings.formulation = parse_choice(way->formulation, {});
  spec.settings.coordinates = parse_choice(way->coordinates, {});
  spec.settings.stabilization = parse_choice(way->stabilization, {});
  spec.settings.integrator = parse_choice(way->integrator, {});
  spec.settings.rtol = 1e-10;
  spec.settings.atol = 1e-12;
  return spec;
}

namespace {

AssemblyVerdict compare_at_its_step(const Spec& spec, double tolerance) {
  Spec one = spec, parts = spec;
  one.settings.glue = {"none", {}, {}};
  one.settings.coordinates = {"TA", {}, {}};
  parts.settings.glue = {"hierarchical", {}, {}};
  KeptRun whole, apart;
  try {
    whole = run_model(one);
  } catch (const InputError& error) {
    return {AssemblyVerdict::Kind::kLeftOut, 0.0, error.what()};
  }
  if (!whole.summary.completed) return {AssemblyVerdict::Kind::kLeftOut, 0.0, whole.summary.status};
  if (!whole.summary.warnings.empty()) return {AssemblyVerdict::Kind::kLeftOut, 0.0, whole.summary.warnings.front()};
  try {
    apart = run_model(parts);
  } catch (const InputError& error) {
    return {AssemblyVerdict::Kind::kRefused, 0.0, error.what()};
  }
  // Where masses differ by many decades, or friction acts in joints that cannot move, rounding decides: runs notice, and stop.
  if (!apart.summary.completed) return {AssemblyVerdict::Kind::kRefused, 0.0, apart.summary.status};
  AssemblyVerdict result;
  const auto place = places(whole.columns);
  if (apart.rows.size() != whole.rows.size())
    return {AssemblyVerdict::Kind::kDiffers, 1.0, fmt::format("{} rows, {} in one piece", apart.rows.size(), whole.rows.size())};
  for (std::size_t c = 0; c < apart.columns.size(); ++c) {
    const std::string& name = apart.columns[c];
    if (!name.starts_with("q.") && !name.starts_with("v.")) continue;
    const auto at = place.find(name);
    if (at == place.end()) return {AssemblyVerdict::Kind::kDiffers, 1.0, name + " is missing"};
    const bool is_of_quaternion = name.starts_with("q.") && is_of_rotation(spec, name.substr(2));  // -q is the same rotation as q
    for (std::size_t r = 0; r < whole.rows.size(); ++r) {
      const double a = apart.rows[r][c], b = whole.rows[r][at->second];
      const double apart_by = is_of_quaternion ? std::min(std::abs(a - b), std::abs(a + b)) : std::abs(a - b);
      const double difference = apart_by / std::max(1.0, std::abs(b));
      if (difference > result.difference || std::isnan(difference)) result = {result.kind, difference, name};
    }
  }
  if (!(result.difference <= tolerance)) result.kind = AssemblyVerdict::Kind::kDiffers;
  return result;
}

}  // namespace

/// Errors of integration differ, as coordinates do, and impacts enlarge them: they vanish with the step, or with the tolerance
/// where that makes it; mistakes do not.
AssemblyVerdict compare_with_one_piece(const Spec& spec, double tolerance) {
  AssemblyVerdict verdict = compare_at_its_step(spec, tolerance);
  if (verdict.kind != AssemblyVerdict::Kind::kDiffers) return verdict;
  struct Finer {
    double tolerances, falls;  // to this share
  };
  constexpr double kStep = 0.1;
  const bool is_adaptive = spec.settings.integrator.name.starts_with("cvode");
  // Of fourth order: 1e-4. BDF cannot always do with the tightest tolerances.
  const std::vector<Finer> ways = is_adaptive ? std::vector<Finer>{{0.01, 0.1}, {0.1, 0.3}} : std::vector<Finer>{{0.01, 0.01}};
  for (const Finer& way : ways) {
    Spec finer = spec;
    finer.settings.step *= kStep;
    finer.settings.rtol *= way.tolerances;
    finer.settings.atol *= way.tolerances;
    const AssemblyVerdict again = compare_at_its_step(finer, std::max(tolerance, way.falls * verdict.difference));
    if (again.kind == AssemblyVerdict::Kind::kSame) return again;
    if (again.kind == AssemblyVerdict::Kind::kDiffers) break;
  }
  return verdict;
}

}  // namespace linkwork::test
