#include "bench/peers/experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>

#include "bench/peers/linkwork_engine.h"
#include "bench/peers/translation.h"
#include "linkwork/io/model_file.h"

namespace linkwork::bench {
namespace {

using Json = nlohmann::json;

constexpr double kSampleSeconds = 2e-3;
constexpr double kBetweenStates = 8e-3;  // s of motion
constexpr int kStates = 16;
constexpr double kEvery = 0.1;  // how often a run is looked at, s
constexpr double kEnd = 10.0;

const std::vector<std::string> kCoordinates{"TA", "CE", "auto"};

/// Time this process has computed, on all its threads: other work on the machine does not count.
double busy_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double quantile(std::vector<double> values, double fraction) {
  std::ranges::sort(values);
  const double at = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

Spec read(const std::string& model, std::vector<std::pair<std::string, std::string>> set) {
  ReadOptions options;
  options.set = std::move(set);
  return read_model_file(std::string(LINKWORK_SOURCE_DIR) + "/models/" + model + ".toml", options);
}

Spec read(const Case& what) {
  if (what.n == 0) return read(what.model, {});
  return read(what.model, {{"n", std::to_string(what.n)}});
}

/// What an exception says, without the folder of this machine.
std::string words(const std::exception& error) {
  std::string text = error.what();
  const std::string folder = std::string(LINKWORK_SOURCE_DIR) + "/";
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
  return text.substr(0, 400);
}

Json row_of(const Case& what, const std::string& engine) {
  Json row{{"model", what.model}, {"engine", engine}};
  if (what.n > 0) row["n"] = what.n;
  return row;
}

/// Without the models that were not asked for.
std::vector<Case> asked(std::vector<Case> cases, const Plan& plan) {
  if (!plan.models.empty())
    std::erase_if(cases, [&](const Case& what) { return std::ranges::find(plan.models, what.model) == plan.models.end(); });
  return cases;
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

double largest(const std::vector<double>& values) {
  double most = 0.0;
  for (double value : values) most = std::max(most, std::abs(value));
  return most;
}

/// Largest difference; infinite if a number is none.
double difference(const std::vector<double>& found, const std::vector<double>& expected) {
  std::vector<double> apart;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (!std::isfinite(found[k])) return std::numeric_limits<double>::infinity();
    apart.push_back(found[k] - expected[k]);
  }
  return largest(apart);
}

void announce(const Case& what, const std::string& doing) {
  fmt::print(stderr, "{}{}: {}\n", what.model, what.n > 0 ? fmt::format(" {}", what.n) : "", doing);
}

// Evaluations ------------------------------------------------------------------------------------------------------------------

/// States along the motion, so that no evaluation repeats the one before, and the accelerations there.
struct Course {
  std::vector<PeerState> states;
  std::vector<std::vector<double>> accelerations;
  double scale = 0.0;  // the largest of them
};

Course course(LinkworkEngine& engine) {
  Course out;
  engine.run_with("rk4", {1e-3, 0.0}, kStates * kBetweenStates, kBetweenStates, [&](const PeerState& state) {
    out.states.push_back(state);
    return true;
  });
  engine.keep(out.states);
  for (std::size_t k = 0; k < out.states.size(); ++k) {
    out.accelerations.push_back(engine.accelerations(k));
    out.scale = std::max(out.scale, largest(out.accelerations.back()));
  }
  return out;
}

/// An engine that is timed, or the reason why not.
class Subject {
 public:
  Subject(Json row, std::unique_ptr<Engine> engine) : row_(std::move(row)), engine_(std::move(engine)) {}

  /// Refuses an engine whose accelerations at the start are not the expected ones.
  void check(const Course& course, double agreement) {
    if (!engine_) return;
    try {
      engine_->keep(course.states);
      const double at_start = difference(engine_->accelerations(0), course.accelerations[0]) / course.scale;
      double along = at_start;
      for (std::size_t k = 1; k < course.states.size(); ++k)
        along = std::max(along, difference(engine_->accelerations(k), course.accelerations[k]) / course.scale);
      row_["difference"] = number(at_start);
      row_["difference_along"] = number(along);
      states_ = course.states.size();
      if (!(at_start <= agreement))
        skip(fmt::format("its accelerations at the start differ by {:.2g}, more than {:g}", at_start, agreement));
      else
        set_count();
    } catch (const std::exception& error) {
      skip(words(error));
    }
  }

  void sample() {
    if (!engine_) return;
    try {
      for (std::size_t k = 0; k < std::min<std::size_t>(count_, 2); ++k) engine_->evaluate(k);  // warms the caches
      const double begin = busy_seconds();
      for (std::size_t k = 0; k < count_; ++k) engine_->evaluate((next_ + k) % states_);
      samples_.push_back((busy_seconds() - begin) / static_cast<double>(count_));
      next_ = (next_ + count_) % states_;
    } catch (const std::exception& error) {
      skip(words(error));
    }
  }

  Json row() const {
    Json row = row_;
    if (samples_.empty() || !engine_) return row;
    row["us"] = 1e6 * quantile(samples_, 0.5);
    row["us_quartiles"] = {1e6 * quantile(samples_, 0.25), 1e6 * quantile(samples_, 0.75)};
    row["evaluations"] = samples_.size() * count_;
    return row;
  }

 private:
  void skip(const std::string& why) {
    row_["skipped"] = why;
    engine_.reset();
  }
  void set_count() {
    const double begin = busy_seconds();
    engine_->evaluate(0);
    engine_->evaluate(1);
    const double one = std::max(1e-9, (busy_seconds() - begin) / 2);
    count_ = static_cast<std::size_t>(std::ceil(kSampleSeconds / one));
  }

  Json row_;
  std::unique_ptr<Engine> engine_;
  std::size_t states_ = 1, next_ = 0, count_ = 1;
  std::vector<double> samples_;
};

Subject linkwork_subject(const Spec& spec, const Case& what, const std::string& coordinates) {
  Json row = row_of(what, "Linkwork " + coordinates);
  row["constraints"] = "hard";
  try {
    auto engine = std::make_unique<LinkworkEngine>(spec, coordinates);
    row["solved_in"] = engine->coordinates();
    if (coordinates != "auto" && engine->coordinates() != coordinates) {
      row["skipped"] = "it runs in the coordinates " + engine->coordinates();
      return {row, nullptr};
    }
    return {row, std::move(engine)};
  } catch (const std::exception& error) {
    row["skipped"] = words(error);
    return {row, nullptr};
  }
}

Subject peer_subject(const Peer& peer, const Mechanism& mechanism, const PeerState& start, const Case& what) {
  Json row = row_of(what, peer.name);
  row["constraints"] = peer.constraints;
  try {
    return {row, peer.make(mechanism, start)};
  } catch (const std::exception& error) {
    row["skipped"] = words(error);
    return {row, nullptr};
  }
}

void sample_in_turn(std::vector<Subject>& subjects, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (Subject& subject : subjects) subject.sample();
}

// Runs -------------------------------------------------------------------------------------------------------------------------

using Centers = std::vector<std::vector<Triple>>;  // of mass, by multiple of kEvery

double farthest(const std::vector<Triple>& a, const std::vector<Triple>& b) {
  double most = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k)
    most = std::max(most, std::hypot(a[k][0] - b[k][0], a[k][1] - b[k][1], a[k][2] - b[k][2]));
  return most;
}

struct Trial {
  double reached = 0.0;     // s of motion
  double seconds = 0.0;     // that it took
  double seconds_1s = 0.0;  // to the first second of motion
  double gap = 0.0, gap_end = 0.0;
  double speed = 0.0;  // the largest velocity coordinate at the end
  double energy_start = 0.0, energy_end = 0.0;
  std::string stopped;  // why it did not come to the end
  Centers centers;

  double error(const Centers& reference, double t) const {
    const auto k = static_cast<std::size_t>(std::lround(t / kEvery));
    if (centers.size() <= k || reference.size() <= k) return std::numeric_limits<double>::infinity();
    return farthest(centers[k], reference[k]);
  }
};

/// The clock runs from the first look on, and stands still while states are looked at. A repetition is `end` or `budget` long.
Trial try_run(Engine& engine, Judge& judge, const PeerState& start, const Stepping& stepping, double end, double budget) {
  Trial trial;
  double resumed = 0.0;
  const auto seen = [&](const PeerState& state) {
    if (!trial.centers.empty()) trial.seconds += busy_seconds() - resumed;
    const Judge::Finding found = judge.look(state);
    if (!found.finite) {
      trial.stopped = fmt::format("not a number at t = {:.3g} s", state.t);
      return false;
    }
    if (trial.centers.empty()) trial.energy_start = found.energy;
    trial.reached = state.t;
    trial.gap = std::max(trial.gap, found.gap);
    trial.gap_end = found.gap;
    trial.speed = found.speed;
    trial.energy_end = found.energy;
    trial.centers.push_back(found.coms);
    if (state.t < 1.0 + 0.5 * kEvery) trial.seconds_1s = trial.seconds;
    if (trial.seconds > budget && state.t < end - 0.5 * kEvery) {
      trial.stopped = fmt::format("stopped after {:.3g} s of computing", trial.seconds);
      return false;
    }
    resumed = busy_seconds();
    return true;
  };
  try {
    const std::string reason = engine.run(start, stepping, end, kEvery, seen);
    if (trial.stopped.empty()) trial.stopped = reason;
  } catch (const std::exception& error) {
    trial.stopped = words(error);
  }
  return trial;
}

/// Short runs are made three times; the time is the one in the middle.
Trial repeat_run(Engine& engine, Judge& judge, const PeerState& start, const Stepping& stepping, double end, double budget) {
  Trial trial = try_run(engine, judge, start, stepping, end, budget);
  if (trial.seconds > 0.3 || !trial.stopped.empty()) return trial;
  std::vector<double> whole{trial.seconds}, first{trial.seconds_1s};
  for (int k = 0; k < 2; ++k) {
    const Trial again = try_run(engine, judge, start, stepping, end, budget);
    whole.push_back(again.seconds);
    first.push_back(again.seconds_1s);
  }
  trial.seconds = quantile(whole, 0.5);
  trial.seconds_1s = quantile(first, 0.5);
  return trial;
}

/// An engine under the name it has in the report.
struct Runner {
  std::string name;
  std::unique_ptr<Engine> engine;  // none: `trouble` says why
  std::vector<Stepping> accuracies;
  std::string trouble;
};

Runner peer_runner(const Peer& peer, const Mechanism& mechanism, const PeerState& start) {
  Runner runner{peer.name, nullptr, peer.accuracies, ""};
  try {
    runner.engine = peer.make(mechanism, start);
  } catch (const std::exception& error) {
    runner.trouble = words(error);
  }
  return runner;
}

Json stepping_json(const Stepping& stepping) {
  if (stepping.step > 0.0) return {{"step", stepping.step}};
  return {{"accuracy", stepping.accuracy}};
}

/// A tight run, and how far it is from one that is less so.
struct Reference {
  std::string integrator;
  Centers centers;
  double uncertainty_1s = 0.0, uncertainty_10s = 0.0;
};

Reference reference(LinkworkEngine& engine, Judge& judge, const std::string& integrator, const Stepping& tight,
                    const Stepping& less) {
  const auto centers = [&](const Stepping& stepping) {
    Centers out;
    engine.run_with(integrator, stepping, kEnd, kEvery, [&](const PeerState& state) {
      out.push_back(judge.look(state).coms);
      return true;
    });
    return out;
  };
  const Centers found = centers(tight), other = centers(less);
  const auto apart = [&](double t) {
    const auto k = static_cast<std::size_t>(std::lround(t / kEvery));
    return k < found.size() && k < other.size() ? farthest(found[k], other[k]) : std::numeric_limits<double>::infinity();
  };
  return {integrator, found, apart(1.0), apart(kEnd)};
}

/// The more certain one of two methods: order 8 with fixed steps, and steps by a tight tolerance.
Reference reference(LinkworkEngine& engine, Judge& judge) {
  const Reference fixed = reference(engine, judge, "ode8", {2.5e-4, 0.0}, {5e-4, 0.0});
  const Reference adaptive = reference(engine, judge, "dopri45", {0.0, 1e-12}, {0.0, 1e-11});
  return adaptive.uncertainty_10s < fixed.uncertainty_10s ? adaptive : fixed;
}

void compare_accuracy_of(const Case& what, const Plan& plan, Json& rows) {
  announce(what, "accuracy");
  const Spec spec = read(what);
  LinkworkEngine base(spec, "TA");
  Judge judge(spec);
  const Reference exact = reference(base, judge);
  const Mechanism mechanism = translate(spec, base.model());
  std::vector<Runner> runners;
  Runner rk4{"Linkwork rk4", std::make_unique<LinkworkEngine>(spec, "auto"), {}, ""};
  for (double step : {2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4}) rk4.accuracies.push_back({step, 0.0});
  Runner adaptive{"Linkwork dopri45", std::make_unique<LinkworkEngine>(spec, "auto"), {}, ""};
  for (double accuracy : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10}) adaptive.accuracies.push_back({0.0, accuracy});
  runners.push_back(std::move(rk4));
  runners.push_back(std::move(adaptive));
  for (const Peer& peer : plan.peers) runners.push_back(peer_runner(peer, mechanism, base.start()));
  for (Runner& runner : runners)
    if (!runner.trouble.empty()) {
      Json row = row_of(what, runner.name);
      row["stopped"] = runner.trouble;
      rows.push_back(row);
    }
  // In turn: the first setting of all, then the second. Who took too long, or is close to the reference, is done.
  for (std::size_t k = 0; k < 8; ++k)
    for (Runner& runner : runners) {
      if (!runner.engine || k >= runner.accuracies.size()) continue;
      const Stepping& stepping = runner.accuracies[k];
      const Trial trial = repeat_run(*runner.engine, judge, base.start(), stepping, kEnd, what.budget);
      Json row = row_of(what, runner.name);
      row.update(stepping_json(stepping));
      row["error_1s"] = number(trial.error(exact.centers, 1.0));
      row["error_10s"] = number(trial.error(exact.centers, kEnd));
      row["seconds_1s"] = trial.seconds_1s;
      row["seconds_10s"] = trial.seconds;
      row["reached"] = trial.reached;
      row["gap"] = trial.gap;
      row["reference"] = exact.integrator;
      row["reference_uncertainty_1s"] = number(exact.uncertainty_1s);
      row["reference_uncertainty_10s"] = number(exact.uncertainty_10s);
      if (!trial.stopped.empty()) row["stopped"] = trial.stopped;
      rows.push_back(row);
      if (trial.seconds > what.budget || trial.error(exact.centers, kEnd) < 1e-8) runner.engine.reset();
    }
}

void run_loops_of(const Case& what, const Plan& plan, Json& rows) {
  announce(what, "10 s at 1 ms");
  const Spec spec = read(what);
  auto own = std::make_unique<LinkworkEngine>(spec, "auto");
  LinkworkEngine& linkwork = *own;
  Judge judge(spec);
  const PeerState start = linkwork.start();
  const LinkworkEngine tree(spec, "TA");
  const Mechanism mechanism = translate(spec, tree.model());
  std::vector<Runner> runners;
  runners.push_back({"Linkwork", std::move(own), {}, ""});
  for (const Peer& peer : plan.peers) runners.push_back(peer_runner(peer, mechanism, start));
  for (Runner& runner : runners) {
    Json row = row_of(what, runner.name);
    if (!runner.engine) {
      row["stopped"] = runner.trouble;
      rows.push_back(row);
      continue;
    }
    const bool is_ours = runner.engine.get() == &linkwork;
    const Trial trial = repeat_run(*runner.engine, judge, start, {1e-3, 0.0}, kEnd, is_ours ? 60.0 : what.budget);
    row["reached"] = trial.reached;
    row["gap"] = trial.gap;
    row["gap_end"] = trial.gap_end;
    row["seconds"] = trial.seconds;
    row["speed"] = trial.seconds > 0.0 ? trial.reached / trial.seconds : 0.0;
    row["energy_start"] = trial.energy_start;
    row["energy_end"] = trial.energy_end;
    if (is_ours) {
      row["energy_drift"] = linkwork.last_run().energy_drift;
      row["solved_in"] = linkwork.last_run().coordinates;
      row["velocity_error"] = linkwork.last_run().velocity_error_max;
      row["position_error"] = linkwork.last_run().position_error_max;
      row["warnings"] = linkwork.last_run().warnings;
    }
    if (!trial.stopped.empty()) row["stopped"] = trial.stopped;
    rows.push_back(row);
  }
}

// Closures ---------------------------------------------------------------------------------------------------------------------

Spec closed_by(Spec spec, const std::string& closure) {
  for (ClosureSpec& given : spec.closures) given.type = closure;
  return spec;
}

void close_redundantly_of(const Case& what, const Plan& plan, Json& rows) {
  announce(what, "redundant closures");
  const Spec pinned = read(what);
  LinkworkEngine base(pinned, "TA");
  const Course along = course(base);
  std::vector<Subject> subjects;
  std::vector<std::string> closures;
  for (const std::string closure : {"pin", "spherical", "revolute"}) {
    const Spec spec = closed_by(pinned, closure);
    for (const std::string& coordinates : kCoordinates) {
      subjects.push_back(linkwork_subject(spec, what, coordinates));
      closures.push_back(closure);
    }
    const LinkworkEngine tree(spec, "TA");
    const Mechanism mechanism = translate(spec, tree.model());
    for (const Peer& peer : plan.peers) {
      subjects.push_back(peer_subject(peer, mechanism, base.start(), what));
      closures.push_back(closure);
    }
  }
  // Whatever the difference, it is part of what is reported.
  for (Subject& subject : subjects) subject.check(along, std::numeric_limits<double>::max());
  sample_in_turn(subjects, plan.rounds);
  for (std::size_t k = 0; k < subjects.size(); ++k) {
    Json row = subjects[k].row();
    row["closure"] = closures[k];
    rows.push_back(row);
  }
}

}  // namespace

Json time_evaluations(const Plan& plan) {
  std::vector<Case> cases{{"four_bar"}, {"n_four_bar", 4},   {"n_four_bar", 16},   {"n_four_bar", 40},   {"n_four_bar", 100},
                          {"rover"},    {"closed_chain", 8}, {"closed_chain", 64}, {"closed_chain", 512}};
  if (plan.quick) cases = {{"four_bar"}, {"n_four_bar", 4}, {"n_four_bar", 16}, {"rover"}, {"closed_chain", 8}};
  Json rows = Json::array();
  for (const Case& what : asked(cases, plan)) {
    announce(what, "evaluations");
    const Spec spec = read(what);
    LinkworkEngine base(spec, "TA");
    const Course along = course(base);
    const Mechanism mechanism = translate(spec, base.model());
    std::vector<Subject> subjects;
    for (const std::string& coordinates : kCoordinates) {
      subjects.push_back(linkwork_subject(spec, what, coordinates));
      subjects.back().check(along, 1e-8);
    }
    for (const Peer& peer : plan.peers) {
      subjects.push_back(peer_subject(peer, mechanism, base.start(), what));
      subjects.back().check(along, peer.agreement);
    }
    sample_in_turn(subjects, plan.rounds);
    for (const Subject& subject : subjects) rows.push_back(subject.row());
  }
  return rows;
}

Json compare_accuracy(const Plan& plan) {
  Json rows = Json::array();
  std::vector<Case> cases{{"four_bar", 0, 2.0}, {"n_four_bar", 4, 2.0}, {"rover", 0, 2.5}, {"closed_chain", 8, 2.0}};
  if (plan.quick) cases = {{"four_bar", 0, 0.5}};
  for (const Case& what : asked(cases, plan)) compare_accuracy_of(what, plan, rows);
  return rows;
}

Json run_loops(const Plan& plan) {
  std::vector<Case> cases{{"four_bar", 0, 5.0},     {"n_four_bar", 4, 6.0},    {"n_four_bar", 16, 3.0},
                          {"n_four_bar", 40, 2.0},  {"n_four_bar", 100, 2.0},  {"rover", 0, 8.0},
                          {"closed_chain", 8, 5.0}, {"closed_chain", 64, 2.0}, {"closed_chain", 512, 2.0}};
  if (plan.quick) cases = {{"four_bar", 0, 2.0}, {"n_four_bar", 4, 2.0}};
  Json rows = Json::array();
  for (const Case& what : asked(cases, plan)) run_loops_of(what, plan, rows);
  return rows;
}

Json close_redundantly(const Plan& plan) {
  std::vector<Case> cases{{"four_bar"}, {"n_four_bar", 16}, {"rover"}};
  if (plan.quick) cases.pop_back();
  Json rows = Json::array();
  for (const Case& what : asked(cases, plan)) close_redundantly_of(what, plan, rows);
  return rows;
}

/// A four-bar whose links are too short to close it: run for a second from where the file puts it.
Json close_inconsistently(const Plan& plan) {
  const Case what{"four_bar"};
  announce(what, "a loop that cannot be closed");
  Json rows = Json::array();
  const Spec spec = read(what.model, {{"l0", "10"}});
  const Model model = build_model(spec);
  const PeerState start{0.0, model.start_q, model.start_v};
  Json ours = row_of(what, "Linkwork");
  try {
    LinkworkEngine engine(spec, "auto");
    ours["outcome"] = "runs";
  } catch (const std::exception& error) {
    ours["outcome"] = "refuses";
    ours["says"] = words(error);
  }
  rows.push_back(ours);
  Judge judge(spec);
  const Mechanism mechanism = translate(spec, model);
  for (const Peer& peer : plan.peers) {
    Json row = row_of(what, peer.name);
    Runner runner = peer_runner(peer, mechanism, start);
    Trial trial;
    trial.stopped = runner.trouble;
    if (runner.engine) trial = try_run(*runner.engine, judge, start, {1e-3, 0.0}, 1.0, 5.0);
    row["outcome"] = trial.stopped.empty() ? "runs" : "stops";
    if (!trial.stopped.empty()) row["says"] = trial.stopped;
    row["reached"] = trial.reached;
    row["gap_start"] = judge.look(start).gap;
    row["gap_end"] = trial.gap_end;
    row["speed_end"] = trial.speed;
    rows.push_back(row);
  }
  return rows;
}

/// The n-four-bar with all links in line, moving: n more degrees of freedom for an instant.
Json start_singular(const Plan& plan) {
  const Case what{"n_four_bar", 4};
  announce(what, "a singular start");
  Spec spec = read(what);
  for (JointSpec& joint : spec.joints) joint.position = {0.0};
  const Model model = build_model(spec);
  const PeerState start{0.0, model.start_q, model.start_v};
  const Mechanism mechanism = translate(spec, model);
  Judge judge(spec);
  Json rows = Json::array();
  std::vector<Runner> runners;
  Runner own{"Linkwork", nullptr, {}, ""};
  try {
    own.engine = std::make_unique<LinkworkEngine>(spec, "auto");
  } catch (const std::exception& error) {
    own.trouble = words(error);
  }
  runners.push_back(std::move(own));
  for (const Peer& peer : plan.peers) runners.push_back(peer_runner(peer, mechanism, start));
  for (Runner& runner : runners) {
    Json row = row_of(what, runner.name);
    Trial trial;
    trial.stopped = runner.trouble;
    if (runner.engine) {
      trial = try_run(*runner.engine, judge, start, {1e-3, 0.0}, 1.0, 5.0);
      row["energy_change"] = number((trial.energy_end - trial.energy_start) / std::abs(trial.energy_start));
    }
    row["outcome"] = trial.stopped.empty() ? "runs" : "stops";
    if (!trial.stopped.empty()) row["says"] = trial.stopped;
    row["reached"] = trial.reached;
    row["gap"] = trial.gap;
    row["gap_end"] = trial.gap_end;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace linkwork::bench
