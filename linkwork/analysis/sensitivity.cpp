#include "linkwork/analysis/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "linkwork/analysis/sensitivity_steps.h"
#include "linkwork/model/joints/joint_kind.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/simulation/simulation_error.h"

namespace linkwork {

Measure Measure::parse(const std::string& text) {
  static constexpr std::array kKinds{std::pair{"final", Kind::kFinal}, std::pair{"max", Kind::kMax}, std::pair{"min", Kind::kMin},
                                     std::pair{"integral", Kind::kIntegral}};
  const std::size_t open = text.find('('), equals = text.find('=');
  const std::size_t begin = equals < open ? equals + 1 : 0;
  if (open != text.npos && text.back() == ')')
    for (const auto& [word, kind] : kKinds)
      if (text.substr(begin, open - begin) == word)
        return {kind, begin > 0 ? text.substr(0, equals) : text, text.substr(open + 1, text.size() - open - 2)};
  throw InputError({"--measure", 0, 0}, fmt::format("'{}' measures nothing", text),
                   "final(COLUMN), max(COLUMN), min(COLUMN) or integral(COLUMN), with a name and = before it or not");
}

namespace {

constexpr double kProbe = 1e-5;  // of displacements in which a step with an event is made again, adjoint

/// A step in which something happened, up to a little later, by displacements.
struct EventStep {
  State from, to;
  Modes modes_from, modes_to;
  std::vector<double> memory_from, memory_to;
  SavedRun saved;
  bool ends_run = false;
};

using Step = std::variant<SmoothStep, EventStep>;

const State& end_of(const Step& step) {
  return std::visit([](const auto& s) -> const State& { return s.to; }, step);
}

Spec prepared(Spec spec, const std::vector<Measure>& measures, const Settings& like) {
  spec.settings.step = like.step, spec.settings.end = like.end;
  spec.settings.coordinates = {"TA", {}, {}};
  spec.settings.output_every = INFINITY;
  for (std::size_t k = 0; k < measures.size(); ++k) {
    if (measures[k].kind != Measure::Kind::kIntegral) continue;
    const Place place{"--measure", 0, 0};
    spec.states.push_back(
        {fmt::format("measure {}", k + 1), 0.0, Expression::linear({measures[k].column}, {1.0}, 0.0, place), place});
  }
  return spec;
}

const Tableau& tableau_of(const Settings& settings) {
  const auto all = tableaus();
  const auto found = std::ranges::find(all, settings.integrator.name, &Tableau::name);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const Tableau& each : all) names.push_back(each.name);
  throw InputError(settings.integrator.place,
                   fmt::format("sensitivities are not known with the integrator '{}'", settings.integrator.name),
                   "an explicit Runge-Kutta method: " + listed(names));
}

class Sensitive {
 public:
  Sensitive(const Spec& spec, const std::vector<Measure>& measures, const std::vector<Varied>& varied,
            const SensitivityOptions& options)
      : measures_(measures),
        options_(options),
        model_(std::make_shared<const Model>(build_model(prepared(spec, measures, spec.settings)))),
        variations_(make_variations(spec, varied)),
        steps_(model_, variations_, tableau_of(spec.settings)),
        plain_(*model_) {
    if (!MotionGradient::is_exact(*model_))
      throw InputError({}, "the model has forces or sensors of a program's own", "a model whose forces the file describes");
    int integrals = static_cast<int>(model_->states.size());
    for (const Measure& m : measures) integrals -= m.kind == Measure::Kind::kIntegral ? 1 : 0;
    for (const Measure& m : measures)
      variables_.push_back(m.kind == Measure::Kind::kIntegral ? Variable{Variable::Kind::kState, {}, integrals++, 0}
                                                              : variable_of(m.column));
    others_.resize(variations_.size());
  }

  Sensitivities find() {
    run();
    const auto count = std::ssize(variations_);
    const bool adjoint =
        options_.method == SensitivityOptions::Method::kAdjoint ||
        (options_.method == SensitivityOptions::Method::kAuto && count > std::ssize(measures_) + 2 * model_->tree.nv);
    Sensitivities result;
    result.method = adjoint ? "adjoint" : "forward";
    result.steps = std::ssize(taken_), result.events = events_;
    result.notes = notes_;
    place_measures();
    MatX<double> derivatives = MatX<double>::Zero(std::ssize(measures_), count);
    if (count > 0) adjoint ? go_backward(derivatives) : go_forward(derivatives);
    for (std::size_t m = 0; m < measures_.size(); ++m) {
      Sensitivities::Measure& measure = result.measures.emplace_back();
      measure.name = measures_[m].name;
      for (const Seed& seed : seeds_)
        if (seed.measure == m) measure.value += seed.weight * values_[m][seed.moment];
      for (std::size_t k = 0; k < variations_.size(); ++k)
        measure.derivatives.emplace_back(variations_[k].name,
                                         derivatives(static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(k)));
    }
    return result;
  }

 private:
  /// A measure is a sum of what it reads at some moments, of which the first is the start.
  struct Seed {
    std::size_t measure, moment;
    double weight;
  };

  std::vector<Variation> make_variations(const Spec& spec, const std::vector<Varied>& varied) const {
    std::vector<Variation> all;
    for (const Varied& each : varied)
      all.push_back(vary(
          each.name, each.value, each.of_start,
          [&](double value) { return prepared(each.make(value), measures_, spec.settings); }, *model_));
    return all;
  }

  Variable variable_of(const std::string& column) const {
    std::vector<std::string> known;
    const auto is = [&](const std::string& name) {
      known.push_back(name);
      return name == column;
    };
    for (std::size_t j = 0; j < model_->joints.size(); ++j) {
      const Joint& joint = model_->joints[j];
      for (int k = 0; k < joint.kind->nq(); ++k)
        if (is("q." + coordinate_name(joint, joint.kind->positions[static_cast<std::size_t>(k)])))
          return {Variable::Kind::kPosition, {JointIndex(j), k}};
      for (int k = 0; k < joint.kind->nv(); ++k)
        if (is("v." + coordinate_name(joint, joint.kind->velocities[static_cast<std::size_t>(k)])))
          return {Variable::Kind::kVelocity, {JointIndex(j), k}};
    }
    for (std::size_t s = 0; s < model_->sensors.size(); ++s) {
      const Sensor& sensor = model_->sensors[s];
      for (std::size_t c = 0; c < sensor.kind->components.size(); ++c) {
        const std::string& component = sensor.kind->components[c];
        if (is(std::string(sensor.kind->prefix) + "." + sensor.name + (component.empty() ? "" : "." + component)))
          return {Variable::Kind::kSensor, {}, static_cast<int>(s), static_cast<int>(c)};
      }
    }
    throw unknown_name({"--measure", 0, 0}, "column", column, known);
  }

  double read(const Variable& variable, const State& state, const Modes& modes, const std::vector<double>& memory) {
    plain_.set_modes(modes);
    plain_.set_memory(memory);
    plain_.update(state);
    return plain_.value(variable);
  }

  void note_moment(const State& state, const Modes& modes, const std::vector<double>& memory) {
    for (std::size_t m = 0; m < measures_.size(); ++m) values_[m].push_back(read(variables_[m], state, modes, memory));
  }

  void run() {
    values_.resize(measures_.size());
    Simulation run(model_);
    const auto system = [&]() -> System& { return run.equations().system(); };
    bool happened = false;
    std::vector<SmoothStep> made;
    State from;
    Modes modes = system().modes();
    std::vector<double> memory;
    Observer observer;
    observer.event = [&](EquationsOfMotion&, bool after) { happened = true, events_ += after ? 1 : 0; };
    observer.progress = [&](double, double) {
      made.push_back({made.empty() ? from : made.back().to, run.state(), modes, memory});
    };
    run.observe(observer);
    if (!run.advance_to(0.0)) throw SimulationError(run.summary().status);
    const double end = model_->settings.end, slack = 1e-9 * model_->settings.step;
    first_ = run.state(), first_modes_ = system().modes(), first_memory_ = system().memory();
    note_moment(first_, first_modes_, first_memory_);
    double longest = model_->settings.step;
    while (run.t() < end - slack && !run.ended_by_event()) {
      if (options_.go_on && !options_.go_on()) throw SimulationError("interrupted");
      std::optional<SavedRun> saved;
      if (model_->has_events()) saved = run.save();
      from = run.state(), modes = system().modes(), memory = system().memory();
      happened = false;
      made.clear();
      const auto go = [&](bool going) {
        if (!going && !run.ended_by_event()) throw SimulationError(run.summary().status);
      };
      go(run.t() + 2.0 * longest < end ? run.step() : run.advance_to(end));  // the last ones end there
      if (!happened) {
        for (SmoothStep& step : made) {
          if (!run.has_fixed_steps()) longest = std::max(longest, 5.0 * (step.to.t - step.from.t));
          note_moment(step.to, modes, memory);
          taken_.emplace_back(std::move(step));
        }
        continue;
      }
      if (!run.ended_by_event() && run.t() < end) go(run.advance_to(std::min(end, run.t() + model_->settings.step)));
      taken_.emplace_back(
          EventStep{from, run.state(), modes, system().modes(), memory, system().memory(), *saved, run.ended_by_event()});
      note_moment(run.state(), system().modes(), system().memory());
    }
    if (events_ > 0)
      notes_.push_back(
          fmt::format("{} steps with events were made again with small changes",
                      std::ranges::count_if(taken_, [](const Step& s) { return std::holds_alternative<EventStep>(s); })));
  }

  /// Largest and least values lie on the parabola through three moments.
  void place_measures() {
    const std::size_t last = taken_.size();
    const auto time = [&](std::size_t moment) { return moment == 0 ? first_.t : end_of(taken_[moment - 1]).t; };
    for (std::size_t m = 0; m < measures_.size(); ++m) {
      const std::vector<double>& y = values_[m];
      const Measure::Kind kind = measures_[m].kind;
      if (kind == Measure::Kind::kFinal || kind == Measure::Kind::kIntegral) {
        seeds_.push_back({m, last, 1.0});
        continue;
      }
      const auto best = kind == Measure::Kind::kMax ? std::ranges::max_element(y) : std::ranges::min_element(y);
      const auto n = static_cast<std::size_t>(best - y.begin());
      if (n == 0 || n == last) {
        seeds_.push_back({m, n, 1.0});
        continue;
      }
      const double a = time(n - 1) - time(n), c = time(n + 1) - time(n);
      const double left = (y[n - 1] - y[n]) / a, right = (y[n + 1] - y[n]) / c;  // y = y_n + (left + right ...) by Newton
      const double bend = (right - left) / (c - a), slope = left - bend * a;
      const double x = bend == 0.0 ? 0.0 : std::clamp(-slope / (2.0 * bend), a, c);
      seeds_.push_back({m, n - 1, x * (x - c) / (a * (a - c))});
      seeds_.push_back({m, n, (x - a) * (x - c) / (a * c)});
      seeds_.push_back({m, n + 1, x * (x - a) / (c * (c - a))});
    }
  }

  SensitivitySteps::Reading reading_at(std::size_t moment, const Variable& variable) {
    if (moment == 0) return steps_.read(variable, first_, first_modes_, first_memory_);
    const Step& step = taken_[moment - 1];
    if (const auto* smooth = std::get_if<SmoothStep>(&step))
      return steps_.read(variable, smooth->to, smooth->modes, smooth->memory);
    const auto& event = std::get<EventStep>(step);
    return steps_.read(variable, event.to, event.modes_to, event.memory_to);
  }

  void go_forward(MatX<double>& derivatives) {
    MatX<double> Y = steps_.start(first_);
    for (std::size_t moment = 0; moment <= taken_.size(); ++moment) {
      if (moment > 0) {
        if (options_.go_on && !options_.go_on()) throw SimulationError("interrupted");
        const Step& step = taken_[moment - 1];
        if (const auto* smooth = std::get_if<SmoothStep>(&step))
          Y = steps_.forward(*smooth, Y);
        else
          Y = across(std::get<EventStep>(step), Y);
      }
      for (const Seed& seed : seeds_) {
        if (seed.moment != moment) continue;
        const SensitivitySteps::Reading reading = reading_at(moment, variables_[seed.measure]);
        derivatives.row(static_cast<Eigen::Index>(seed.measure)) += seed.weight * (reading.by_y * Y + reading.by_variation);
      }
    }
  }

  void go_backward(MatX<double>& derivatives) {
    MatX<double> L = MatX<double>::Zero(derivatives.rows(), steps_.size());
    for (std::size_t moment = taken_.size() + 1; moment-- > 0;) {
      if (options_.go_on && !options_.go_on()) throw SimulationError("interrupted");
      for (const Seed& seed : seeds_) {
        if (seed.moment != moment) continue;
        const SensitivitySteps::Reading reading = reading_at(moment, variables_[seed.measure]);
        L.row(static_cast<Eigen::Index>(seed.measure)) += seed.weight * reading.by_y;
        derivatives.row(static_cast<Eigen::Index>(seed.measure)) += seed.weight * reading.by_variation;
      }
      if (moment == 0) break;
      const Step& step = taken_[moment - 1];
      if (const auto* smooth = std::get_if<SmoothStep>(&step))
        L = steps_.backward(*smooth, L, derivatives);
      else
        L = back_across(std::get<EventStep>(step), L, derivatives);
    }
    derivatives += L * steps_.start(first_);
  }

  /// The end of a step with events that begins a little beside, in a model that differs a little.
  VecX<double> made_again(const EventStep& step, Simulation& run, const VecX<double>& displacement) {
    run.restore(step.saved);
    Moment at;
    pack(steps_.moved(step.from, displacement), at);
    run.jump(at);
    const double end = step.ends_run ? model_->settings.end + 10.0 * model_->settings.step : step.to.t;
    while (run.t() < end && !run.ended_by_event())
      if (!run.advance_to(end) && !run.ended_by_event()) throw SimulationError(run.summary().status);
    return steps_.difference(step.to, run.state());
  }

  Simulation& other(std::size_t k, std::size_t i) {
    std::optional<Simulation>& run = others_[k][i];
    if (!run) {
      run.emplace(variations_[k].models[i]);
      run->advance_to(0.0);
    }
    return *run;
  }

  MatX<double> across(const EventStep& step, const MatX<double>& Y) {
    const MatX<double> X = steps_.to_displacements(step.from, Y);
    MatX<double> end(X.rows(), X.cols());
    for (std::size_t k = 0; k < variations_.size(); ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      end.col(column) = variations_[k].difference([&](std::size_t i) {
        return made_again(step, other(k, i), Variation::kPlaces[i] * variations_[k].step * X.col(column));
      });
    }
    return steps_.to_numbers(step.to, end);
  }

  MatX<double> back_across(const EventStep& step, const MatX<double>& L, MatX<double>& derivatives) {
    const auto [directions, particular] = steps_.allowed(step.from, step.modes_from, step.memory_from);
    if (!same_) {
      same_.emplace(model_);
      same_->advance_to(0.0);
    }
    MatX<double> end(directions.rows(), directions.cols());
    Variation probe{"", 0.0, kProbe};
    for (Eigen::Index c = 0; c < directions.cols(); ++c)
      end.col(c) = probe.difference([&, &along = directions](std::size_t i) {
        return made_again(step, *same_, Variation::kPlaces[i] * kProbe * along.col(c));
      });
    MatX<double> by_variation(end.rows(), std::ssize(variations_));
    for (std::size_t k = 0; k < variations_.size(); ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      by_variation.col(column) = variations_[k].difference([&, &by = particular](std::size_t i) {
        return made_again(step, other(k, i), Variation::kPlaces[i] * variations_[k].step * by.col(column));
      });
    }
    const MatX<double> at_end = L * steps_.to_numbers(step.to, MatX<double>::Identity(end.rows(), end.rows()));
    const MatX<double> at_start = at_end * end * directions.transpose();
    derivatives += at_end * by_variation - at_start * particular;
    return at_start * steps_.to_displacements(step.from, MatX<double>::Identity(L.cols(), L.cols()));
  }

  const std::vector<Measure>& measures_;
  const SensitivityOptions& options_;
  std::shared_ptr<const Model> model_;
  std::vector<Variation> variations_;
  SensitivitySteps steps_;
  System plain_;
  std::vector<Variable> variables_;          // by measure
  std::vector<std::vector<double>> values_;  // by measure and moment
  std::vector<Step> taken_;
  std::vector<Seed> seeds_;
  State first_;
  Modes first_modes_{*model_};
  std::vector<double> first_memory_;
  long events_ = 0;
  std::vector<std::string> notes_;
  std::vector<std::array<std::optional<Simulation>, 4>> others_;  // by variation
  std::optional<Simulation> same_;
};

}  // namespace

Varied varied_start(const Spec& spec, const std::string& name) {
  std::vector<std::string> known;
  for (std::size_t j = 0; j < spec.joints.size(); ++j) {
    const JointSpec& joint = spec.joints[j];
    const JointKind& kind = *find_joint_kind(joint.type);
    if (kind.has_quaternion()) continue;
    for (const bool position : {true, false})
      for (std::size_t k = 0; k < kind.positions.size(); ++k) {
        const std::string& component = (position ? kind.positions : kind.velocities)[k];
        known.push_back((position ? "q." : "v.") + joint.name + (component.empty() ? "" : "." + component));
        if (known.back() != name) continue;
        const auto member = position ? &JointSpec::position : &JointSpec::velocity;
        const std::vector<double>& given = joint.*member;
        const double value = k < given.size() ? given[k] : 0.0;
        return {name, value, true, [spec, j, k, member, count = kind.positions.size()](double changed) {
                  Spec other = spec;
                  std::vector<double>& start = other.joints[j].*member;
                  start.resize(count, 0.0);
                  start[k] = changed;
                  return other;
                }};
      }
  }
  throw unknown_name({"--starts", 0, 0}, "coordinate", name, known);
}

Sensitivities find_sensitivities(const Spec& spec, const std::vector<Measure>& measures, const std::vector<Varied>& varied,
                                 const SensitivityOptions& options) {
  return Sensitive(spec, measures, varied, options).find();
}

Sensitivities find_sensitivities(const Spec& spec, const std::vector<std::string>& measures,
                                 const std::vector<std::string>& parameters, const std::vector<std::string>& starts,
                                 const std::string& method, const std::map<std::string, double>& known,
                                 const std::function<Spec(const std::string& name, double value)>& remake,
                                 const std::function<bool()>& go_on) {
  std::vector<Measure> measured;
  for (const std::string& text : measures) measured.push_back(Measure::parse(text));
  if (measured.empty()) throw InputError({"--measure", 0, 0}, "nothing is measured", "--measure \"final(q.JOINT)\"");
  std::vector<Varied> varied;
  for (const std::string& name : parameters) {
    const auto found = known.find(name);
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const auto& [each, value] : known) names.push_back(each);
      throw unknown_name({"--parameters", 0, 0}, "parameter", name, names);
    }
    varied.push_back({name, found->second, false, [&remake, name](double value) { return remake(name, value); }});
  }
  for (const std::string& name : starts) varied.push_back(varied_start(spec, name));
  if (varied.empty()) throw InputError({"--parameters", 0, 0}, "nothing is varied", "names of parameters, or --starts q.JOINT");
  SensitivityOptions options;
  options.go_on = go_on;
  using Method = SensitivityOptions::Method;
  if (method == "forward" || method == "adjoint")
    options.method = method == "forward" ? Method::kForward : Method::kAdjoint;
  else if (method != "auto")
    throw InputError({"--method", 0, 0}, fmt::format("the method is '{}'", method), "auto, forward or adjoint");
  return find_sensitivities(spec, measured, varied, options);
}

}  // namespace linkwork
