#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace linkwork {

/// What a block says when it cannot answer.
class BlockError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One running copy of a block. What fails throws BlockError; what cannot even begin, InputError.
class BlockInstance {
 public:
  virtual ~BlockInstance() = default;

  /// Begins at a time with values of the connected inputs.
  virtual void start(double t, std::span<const double> inputs) = 0;
  /// By position in SignalBlock::inputs and outputs.
  virtual void set_input(std::size_t input, double value) = 0;
  virtual double output(std::size_t output) = 0;

  // Of blocks whose states are integrated with the motion.
  virtual void set_time(double t) = 0;
  virtual void set_states(std::span<const double> z) = 0;
  virtual void get_states(std::span<double> z) = 0;
  virtual void rates(std::span<double> zdot) = 0;
  virtual void indicators(std::span<double> values) = 0;
  /// A step has ended here.
  struct StepEnd {
    bool wants_event = false, stopped = false;
  };
  virtual StepEnd complete_step() = 0;
  struct Happened {
    bool again = false, stopped = false;
    std::optional<double> next_time;
  };
  virtual void enter_event() = 0;
  virtual Happened update() = 0;
  virtual void leave_event() = 0;

  /// Of blocks that step by themselves: from t by h, while inputs keep the values `from`, or go from them to `to` (linear).
  /// True: the block asks for the end.
  virtual bool step(double t, double h, std::span<const double> from, std::span<const double> to, bool linear) = 0;

  /// All that it remembers; nothing if it does not tell.
  virtual std::optional<std::string> save() = 0;
  virtual void restore(const std::string& saved) = 0;
};

/// A part of a model that a program of its own computes, such as an FMU: numbers go in, numbers come out.
class SignalBlock {
 public:
  struct Input {
    std::string name;
    enum class Kind { kContinuous, kDiscrete, kWhole, kFlag } kind = Kind::kContinuous;  // but the first, it changes at events
  };
  struct Output {
    std::string name;
    std::vector<std::size_t> depends_on;  // inputs that it shows at once
  };

  virtual ~SignalBlock() = default;
  virtual std::unique_ptr<BlockInstance> instantiate() const = 0;

  std::vector<Input> inputs;        // those that are connected
  std::vector<Output> outputs;      // all
  std::vector<std::string> states;  // of its own, that are integrated with the motion
  std::size_t indicators = 0;
  double step = 0.0;    // > 0: it steps by itself
  bool linear = false;  // its inputs are interpolated over a step, not held

  bool steps() const { return step > 0.0; }
};

}  // namespace linkwork
