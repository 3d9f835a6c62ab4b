#include "linkwork/modules/block_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "linkwork/model/input_error.h"
#include "linkwork/model/signal_block.h"

namespace linkwork {

namespace {

constexpr std::array kForces{"tx", "ty", "tz", "fx", "fy", "fz"};  // in the order of Q
constexpr std::array kMotion{"x", "y", "z", "qw", "qx", "qy", "qz", "wx", "wy", "wz", "vx", "vy", "vz"};
constexpr std::array kAccelerations{"dwx", "dwy", "dwz", "ax", "ay", "az"};

template <class Variable>
std::size_t index_of(const std::vector<Variable>& list, const std::string& wanted, const char* what, const std::string& module) {
  const auto found = std::ranges::find(list, wanted, &Variable::name);
  if (found == list.end())
    throw InputError({}, fmt::format("the FMU of module '{}' has no {} '{}'", module, what, wanted),
                     "for each port P the inputs P.fx ... P.tz, and the outputs P.x ... P.dwz");
  return static_cast<std::size_t>(found - list.begin());
}

class BlockModule : public Module {
 public:
  BlockModule(const std::string& name, std::shared_ptr<const SignalBlock> block, const std::vector<std::string>& ports)
      : name_(name), block_(std::move(block)), ports_(ports.size()) {
    if (block_->steps() || block_->indicators > 0)
      throw InputError({},
                       fmt::format("the FMU of module '{}' {}", name_, block_->steps() ? "is of co-simulation" : "has events"),
                       "one of model exchange without events");
    for (std::size_t p = 0; p < ports.size(); ++p) {
      for (const char* const force : kForces)
        ports_[p].forces.push_back(index_of(block_->inputs, ports[p] + "." + force, "input", name_));
      for (const char* const motion : kMotion)
        ports_[p].motion.push_back(index_of(block_->outputs, ports[p] + "." + motion, "output", name_));
      for (const char* const rate : kAccelerations)
        ports_[p].accelerations.push_back(index_of(block_->outputs, ports[p] + "." + rate, "output", name_));
    }
    for (const SignalBlock::Output& output : block_->outputs) columns_.push_back("y." + name_ + "." + output.name);
    for (const std::string& state : block_->states) columns_.push_back("z." + name_ + "." + state);
    begin();
  }

  int port_count() const override { return static_cast<int>(ports_.size()); }
  int state_size() const override { return static_cast<int>(block_->states.size()); }
  void start(VecX<double>& x) override { x = start_; }

  Status kinematics(double t, const VecX<double>& x, std::span<PortMotion> ports) override {
    return told([&]() -> Status {
      t_ = t, x_ = x;
      place(x_);
      force({});
      for (std::size_t p = 0; p < ports.size(); ++p) {
        std::array<double, kMotion.size()> now{};
        std::ranges::transform(ports_[p].motion, now.begin(), [&](std::size_t output) { return instance_->output(output); });
        const Quat turn(now[3], now[4], now[5], now[6]);
        if (!(std::abs(turn.norm() - 1.0) < 1e-3)) return {"the quaternion of a port is none of a rotation"};
        ports[p] = {turn.normalized().toRotationMatrix(),
                    {now[0], now[1], now[2]},
                    {now[7], now[8], now[9]},
                    {now[10], now[11], now[12]}};
      }
      return {};
    });
  }

  /// States satisfy what holds them together inside at all times, so that at the levels of position and velocity R is zero.
  Status response(Level level, PortResponse& response) override {
    return told([&]() -> Status {
      constexpr double kSymmetry = 1e-6;
      const Eigen::Index six = 6 * port_count();
      VecX<double> Q = VecX<double>::Zero(six), column(six);
      place(x_);
      accelerations(Q, response.R);
      for (Eigen::Index k = 0; k < six; ++k) {
        Q[k] = 1.0;
        accelerations(Q, column);
        response.D.col(k) = column - response.R;
        Q[k] = 0.0;
      }
      if (!response.D.allFinite() || !response.R.allFinite()) return {"the accelerations of its ports are not finite"};
      if ((response.D - response.D.transpose()).cwiseAbs().maxCoeff() > kSymmetry * response.D.cwiseAbs().maxCoeff())
        return {"its ports do not answer to forces as those of a mechanism: D in xdd = D Q + R is not symmetric"};
      response.D = 0.5 * (response.D + response.D.transpose()).eval();
      if (level != Level::kAcceleration) response.R.setZero();
      for (Eigen::Index k = 0; k < six; k += 3)
        response.scale.segment<3>(k).setConstant(response.D.diagonal().segment<3>(k).maxCoeff());
      return {};
    });
  }

  Status advance(Level level, const VecX<double>& Q, VecX<double>& out) override {
    return told([&]() -> Status {
      place(x_);
      VecX<double> change = rates(Q);
      if (level == Level::kAcceleration) {
        out = change;
        return {};
      }
      const VecX<double> free = rates({});
      change -= free;
      if (level == Level::kPosition) {
        // As far as it gets in a unit of time with that change of velocity.
        VecX<double> moved = x_;
        for (const Eigen::Index k : velocities_) moved[k] += change[k];
        place(moved);
        change = rates({}) - free;
      }
      for (const Eigen::Index k : level == Level::kPosition ? positions_ : velocities_) out[k] -= change[k];
      return {};
    });
  }

  void accept_step(Remarks& /*remarks*/) override {
    const Status status = told([&]() -> Status {
      place(x_);
      const BlockInstance::StepEnd end = instance_->complete_step();
      return {end.wants_event || end.stopped ? "the FMU asks for an event, which a module cannot have" : ""};
    });
    if (!status.ok()) trouble_ = status.trouble;
  }

  const std::vector<std::string>& columns() const override { return columns_; }
  Status record(const VecX<double>& Q, std::span<double> row) override {
    return told([&]() -> Status {
      place(x_);
      force(Q);
      for (std::size_t o = 0; o < block_->outputs.size(); ++o) row[o] = instance_->output(o);
      std::ranges::copy(x_, row.begin() + std::ssize(block_->outputs));
      return {};
    });
  }
  int dof() const override { return static_cast<int>(velocities_.size()); }

 private:
  struct Port {
    std::vector<std::size_t> forces, motion, accelerations;  // places among inputs and outputs
  };

  void begin() {
    try {
      instance_ = block_->instantiate();
      inputs_.assign(block_->inputs.size(), 0.0);
      instance_->start(0.0, inputs_);
      BlockInstance::Happened happened;
      constexpr int kMostRounds = 100;
      for (int round = 0; round == 0 || (happened.again && round < kMostRounds); ++round) happened = instance_->update();
      if (happened.again || happened.next_time || happened.stopped)
        throw InputError({}, fmt::format("the FMU of module '{}' has events in time", name_), "one without events");
      instance_->leave_event();
      start_.resize(state_size());
      instance_->get_states({start_.data(), block_->states.size()});
      sort_states();
    } catch (const BlockError& error) {
      throw InputError({}, fmt::format("the FMU of module '{}' cannot start: {}", name_, error.what()));
    }
  }

  /// Which states are velocities and which are positions shows: forces change the rates of velocities at once; rates of positions
  /// are zero where velocities are, and not where they are not. Looked at near the start, since at a place of its own something
  /// may happen not to depend on something else.
  void sort_states() {
    constexpr int kPlaces = 3;
    constexpr double kNear = 1e-3, kNothing = 1e-10;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> by(-kNear, kNear);
    const auto n = start_.size();
    const Eigen::Index six = 6 * port_count();
    VecX<double> answer = VecX<double>::Zero(n), still = answer, moving = answer;
    std::vector<VecX<double>> places{start_};
    for (int k = 1; k < kPlaces; ++k) places.push_back(start_ + VecX<double>::NullaryExpr(n, [&] { return by(random); }));
    for (const VecX<double>& x : places) {
      place(x);
      const VecX<double> free = rates({});
      for (Eigen::Index k = 0; k < six; ++k) answer = answer.cwiseMax((rates(VecX<double>::Unit(six, k)) - free).cwiseAbs());
    }
    const double most = n > 0 ? answer.maxCoeff() : 0.0;
    for (Eigen::Index k = 0; k < n; ++k)
      if (answer[k] > kNothing * most) velocities_.push_back(k);
    for (VecX<double> x : places) {
      for (const double speed : {0.0, 1.0}) {
        for (const Eigen::Index k : velocities_) x[k] = speed * (1.0 + by(random));
        place(x);
        VecX<double>& largest = speed == 0.0 ? still : moving;
        largest = largest.cwiseMax(rates({}).cwiseAbs());
      }
    }
    for (Eigen::Index k = 0; k < n; ++k)
      if (answer[k] <= kNothing * most && still[k] <= kNothing * moving[k] && moving[k] > 0.0) positions_.push_back(k);
  }

  void place(const VecX<double>& x) {
    instance_->set_time(t_);
    instance_->set_states({x.data(), static_cast<std::size_t>(x.size())});
  }

  /// Empty: none.
  void force(const VecX<double>& Q) {
    for (std::size_t p = 0; p < ports_.size(); ++p)
      for (std::size_t k = 0; k < kForces.size(); ++k) {
        const double value = Q.size() > 0 ? Q[static_cast<Eigen::Index>(6 * p + k)] : 0.0;
        double& last = inputs_[ports_[p].forces[k]];
        if (last == value) continue;
        last = value;
        instance_->set_input(ports_[p].forces[k], value);
      }
  }

  VecX<double> rates(const VecX<double>& Q) {
    VecX<double> found(start_.size());
    force(Q);
    instance_->rates({found.data(), static_cast<std::size_t>(found.size())});
    return found;
  }

  void accelerations(const VecX<double>& Q, VecX<double>& found) {
    force(Q);
    for (std::size_t p = 0; p < ports_.size(); ++p)
      for (std::size_t k = 0; k < kAccelerations.size(); ++k)
        found[static_cast<Eigen::Index>(6 * p + k)] = instance_->output(ports_[p].accelerations[k]);
  }

  template <class Ask>
  Status told(Ask ask) const {
    if (!trouble_.empty()) return {trouble_};
    try {
      return ask();
    } catch (const BlockError& error) {
      return {error.what()};
    }
  }

  std::string name_;
  std::shared_ptr<const SignalBlock> block_;
  std::vector<Port> ports_;
  std::vector<std::string> columns_;
  std::unique_ptr<BlockInstance> instance_;
  std::vector<double> inputs_;  // as they were last set
  VecX<double> start_;
  std::vector<Eigen::Index> velocities_, positions_;  // of the states
  double t_ = 0.0;
  VecX<double> x_;  // of the last kinematics()
  std::string trouble_;
};

}  // namespace

std::unique_ptr<Module> make_block_module(const std::string& name, std::shared_ptr<const SignalBlock> block,
                                          const std::vector<std::string>& ports) {
  return std::make_unique<BlockModule>(name, std::move(block), ports);
}

}  // namespace linkwork
