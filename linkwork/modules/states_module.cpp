#include "linkwork/modules/states_module.h"

#include <algorithm>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/modules/switched_part.h"

namespace linkwork {

namespace {

/// A body at rest, and the states without what moves them: what names and values need.
Model model_of(const std::vector<StateSpec>& states, const Settings& settings) {
  Spec spec;
  spec.name = kStatesModule;
  spec.settings = settings;
  BodySpec body;
  body.name = kStatesModule;
  body.mass = 1.0;
  body.inertia.setIdentity();
  spec.bodies.push_back(body);
  JointSpec weld;
  weld.name = kStatesModule;
  weld.type = "weld";
  weld.parent.body = "ground";
  weld.child.body = kStatesModule;
  spec.joints.push_back(weld);
  for (StateSpec state : states) {
    state.rate = Expression::constant(0.0);
    spec.states.push_back(state);
  }
  return build_model(spec);
}

/// There is none.
class NoMotion : public Formulation {
 public:
  Status solve(System&, Solution&) override { return {}; }
};

class StatesModule : public Module {
 public:
  StatesModule(const std::vector<StateSpec>& states, const Settings& settings)
      : model_(model_of(states, settings)),
        equations_(model_, std::make_unique<NoMotion>(), std::make_unique<Stabilization>()),
        switched_(model_, equations_) {
    equations_.start(state_);
    for (const StateSpec& state : states) columns_.push_back("z." + state.name);
  }

  int port_count() const override { return (state_size() + kStatesPerPort - 1) / kStatesPerPort; }
  int state_size() const override { return static_cast<int>(columns_.size()); }
  void start(VecX<double>& x) override { x = state_.z; }

  Status kinematics(double t, const VecX<double>& x, std::span<PortMotion> ports) override {
    state_.t = t;
    state_.z = x;
    equations_.system().update(state_);
    for (Eigen::Index k = 0; k < x.size(); ++k) {
      PortMotion& port = ports[static_cast<std::size_t>(k / kStatesPerPort)];
      const Eigen::Index at = k % kStatesPerPort;
      (at < 3 ? port.w[at] : port.v[at - 3]) = x[k];
    }
    return {};
  }
  Status response(Level, PortResponse& response) override {
    response.D.setZero();
    response.R.setZero();
    response.scale.setZero();
    return {};
  }
  Status advance(Level level, const VecX<double>& Q, VecX<double>& out) override {
    if (level == Level::kAcceleration) out = Q.head(state_size());
    return {};
  }

  bool measure_changes(bool, double) override { return true; }
  const std::vector<std::string>& columns() const override { return columns_; }
  Status record(const VecX<double>&, std::span<double> row) override {
    std::ranges::copy(state_.z, row.begin());
    return {};
  }
  SwitchedPart* switched() override { return &switched_; }

 private:
  Model model_;
  EquationsOfMotion equations_;
  SwitchedPart switched_;
  State state_{0.0, VecX<double>(0), VecX<double>(0), 0.0, {}};
  std::vector<std::string> columns_;
};

}  // namespace

std::unique_ptr<Module> make_states_module(const std::vector<StateSpec>& states, const Settings& settings) {
  return std::make_unique<StatesModule>(states, settings);
}

}  // namespace linkwork
