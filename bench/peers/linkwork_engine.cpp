#include "bench/peers/linkwork_engine.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bench/peers/translation.h"

namespace linkwork::bench {
namespace {

Spec with_coordinates(Spec spec, const std::string& coordinates) {
  spec.settings.coordinates = parse_choice(coordinates, {});
  return spec;
}

/// One step of a run, so that what a run decides at its beginning is decided.
Model short_model(Spec spec) {
  spec.settings.end = spec.settings.output_every = spec.settings.step;
  return build_model(spec);
}

}  // namespace

LinkworkEngine::LinkworkEngine(const Spec& spec, const std::string& coordinates)
    : spec_(with_coordinates(spec, coordinates)),
      model_(short_model(spec_)),
      simulation_(std::make_unique<Simulation>(model_)),
      start_(peer_state(simulation_->state())) {
  if (const Summary summary = simulation_->run(); !summary.completed) throw std::runtime_error(summary.status);
}

void LinkworkEngine::keep(const std::vector<PeerState>& states) {
  states_.clear();
  for (const PeerState& state : states) states_.push_back(linkwork_state(state));
}

void LinkworkEngine::evaluate(std::size_t state) {
  if (const Status status = simulation_->equations().evaluate(states_[state], rates_); !status.ok())
    throw std::runtime_error(status.trouble);
}

std::vector<double> LinkworkEngine::accelerations(std::size_t state) {
  evaluate(state);
  return {rates_.vdot.begin(), rates_.vdot.end()};
}

Summary LinkworkEngine::run_with(const std::string& integrator, const Stepping& stepping, double end, double every,
                                 const Seen& seen) {
  Spec spec = spec_;
  spec.settings.integrator = {integrator, {}, {}};
  spec.settings.end = end;
  spec.settings.output_every = every;
  if (stepping.step > 0.0) {
    spec.settings.step = stepping.step;
  } else {
    spec.settings.rtol = stepping.accuracy;
    spec.settings.atol = 1e-3 * stepping.accuracy;
  }
  const Model model = build_model(spec);
  Simulation simulation(model);
  bool go_on = true;
  Observer observer;
  observer.frame = [&](const System& system) { go_on = seen(peer_state(system.state())) && go_on; };
  observer.go_on = [&] { return go_on; };
  return last_run_ = simulation.run(observer);
}

std::string LinkworkEngine::run(const PeerState&, const Stepping& stepping, double end, double every, const Seen& seen) {
  const Summary summary = run_with(stepping.step > 0.0 ? "rk4" : "dopri45", stepping, end, every, seen);
  return summary.status == "done" ? "" : summary.status;
}

Judge::Judge(const Spec& spec) : model_(build_model(spec)), system_(model_) {
  for (const Body& body : model_.bodies) {
    coms_.push_back(Vec3<double>::Zero());
    for (const BodySpec& given : spec.bodies)
      if (given.name == body.name) coms_.back() = given.com;
  }
}

Judge::Finding Judge::look(const PeerState& state) {
  Finding out;
  state_ = linkwork_state(state);
  out.finite = state_.q.allFinite() && state_.v.allFinite();
  if (!out.finite) return out;
  system_.update(state_);
  out.gap = model_.row_count() > 0 ? system_.terms().phi.lpNorm<Eigen::Infinity>() : 0.0;
  out.speed = state_.v.lpNorm<Eigen::Infinity>();
  out.energy = system_.kinetic_energy() + system_.potential_energy();
  for (std::size_t k = 1; k < model_.bodies.size(); ++k) {
    const Body& body = model_.bodies[k];
    const Vec3<double> com = system_.X_WN(body.node) * (body.X_NB * coms_[k]);
    out.coms.push_back({com.x(), com.y(), com.z()});
  }
  return out;
}

}  // namespace linkwork::bench
