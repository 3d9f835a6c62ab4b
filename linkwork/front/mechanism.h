#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linkwork/dynamics/state.h"
#include "linkwork/model/custom_force.h"
#include "linkwork/model/input_error.h"

namespace linkwork {

class Evaluation;
class Module;
struct ImportOptions;
struct Model;
struct ModelOrigin;
struct Spec;

/// The new value of a parameter: a number, or an expression of other parameters.
struct ParameterValue {
  ParameterValue(double number);
  ParameterValue(int number) : ParameterValue(static_cast<double>(number)) {}
  ParameterValue(std::string expression) : text(std::move(expression)) {}
  ParameterValue(const char* expression) : text(expression) {}

  std::string text;
};
using Parameters = std::vector<std::pair<std::string, ParameterValue>>;

/// A model that was read or built, checked, and does not change. Copies share it; several threads may use it at a time.
class Mechanism {
 public:
  const std::string& name() const;
  std::vector<std::string> bodies() const;  // without the ground
  std::vector<std::string> joints() const;
  std::vector<std::string> closures() const;
  std::vector<std::string> inputs() const;
  std::vector<std::string> states() const;  // of the user's own
  std::vector<std::string> sensors() const;
  /// Names of the numbers in State::q and State::v: "theta", "slide.angle". Joints that are cut have none.
  std::vector<std::string> positions() const;
  std::vector<std::string> velocities() const;

  /// The state in which a run begins: all constraints are met.
  State start() const;
  /// Accelerations, reactions and matrices at a state. Inputs that are not given are as the model has them. Throws
  /// SimulationError if there is no answer.
  Evaluation evaluate(const State& state, const std::map<std::string, double>& inputs = {}) const;
  /// The forces along the coordinates `actuators` (empty: all, in the order of velocities()) which, beside those of the model,
  /// make it accelerate by vdot; of several answers, that of least squares. Throws InputError if they cannot, or if the
  /// constraints do not allow vdot.
  VecX<double> inverse_dynamics(const State& state, const VecX<double>& vdot,
                                const std::vector<std::string>& actuators = {}) const;

  /// A copy with one more force.
  Mechanism with(CustomForce force) const;
  /// A copy in which a module that your program computes takes the place of one of the model's modules.
  Mechanism with_module(const std::string& name, std::function<std::unique_ptr<Module>()> make) const;

  // What follows is for the library itself.
  struct Parts;
  explicit Mechanism(Spec spec);
  explicit Mechanism(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  const Parts& parts() const { return *parts_; }
  const Spec& spec() const;
  const std::shared_ptr<const Model>& model() const;  // in one piece, made when first asked for

 private:
  std::shared_ptr<const Parts> parts_;
};

/// Reads a model file or a robot file (.urdf, .sdf, .xml). Throws InputError with the place of what is wrong.
Mechanism load(const std::filesystem::path& file, const Parameters& parameters = {});
Mechanism load(const std::filesystem::path& file, const Parameters& parameters, const ImportOptions& importing);
/// Reads the text of a model file; `name` stands for the file in messages.
Mechanism parse(std::string_view text, const std::string& name = "model", const Parameters& parameters = {});
/// Once more what was loaded, parsed or built before.
Mechanism read_again(const ModelOrigin& origin);

}  // namespace linkwork
