#pragma once

#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "linkwork/fmi/model_description.h"
#include "linkwork/model/signal_block.h"

namespace linkwork {

[[noreturn]] void throw_out_of_range(const FmuDescription::Variable& variable, double value);

/// The shared object of an FMU, unpacked to a folder of its own that goes with it.
class FmuLibrary {
 public:
  /// Takes the folder over. Throws InputError if the object cannot be loaded.
  FmuLibrary(std::filesystem::path folder, const std::filesystem::path& object, std::string name);
  ~FmuLibrary();
  FmuLibrary(const FmuLibrary&) = delete;
  FmuLibrary& operator=(const FmuLibrary&) = delete;

  /// Null if it has no such function.
  void* function(const std::string& name) const;
  std::filesystem::path resources() const { return folder_ / "resources"; }
  const std::string& name() const { return name_; }

 private:
  std::filesystem::path folder_;
  std::string name_;  // for messages
  void* handle_ = nullptr;
};

/// A number as one of a type of the FMU. Throws BlockError if that cannot hold it.
template <class Typed>
Typed typed_value(const FmuDescription::Variable& variable, double value) {
  if constexpr (std::is_same_v<Typed, bool>) {
    return value != 0.0;
  } else if constexpr (std::is_floating_point_v<Typed>) {
    return static_cast<Typed>(value);
  } else {
    const double whole = std::round(value);
    // The largest of 64 bits is no double: the next one above it is the first that is too large.
    const double above = std::ldexp(1.0, std::numeric_limits<Typed>::digits);
    if (!(whole >= static_cast<double>(std::numeric_limits<Typed>::min()) && whole < above)) throw_out_of_range(variable, value);
    return static_cast<Typed>(whole);
  }
}

/// The calls of FMI to one instance, of either version. What fails throws BlockError with what the FMU said about it.
class FmuCalls {
 public:
  virtual ~FmuCalls() = default;

  virtual void set(const FmuDescription::Variable& variable, double value) = 0;
  virtual double get(const FmuDescription::Variable& variable) = 0;
  virtual void set_text(const FmuDescription::Variable& variable, const std::string& text) = 0;

  virtual void enter_initialization(double t) = 0;
  virtual void exit_initialization() = 0;
  virtual void enter_event() = 0;
  virtual void enter_continuous() = 0;
  virtual BlockInstance::Happened update() = 0;
  virtual BlockInstance::StepEnd complete_step() = 0;
  virtual void set_time(double t) = 0;
  virtual void set_states(std::span<const double> x) = 0;
  virtual void get_states(std::span<double> x) = 0;
  virtual void rates(std::span<double> x) = 0;
  virtual void indicators(std::span<double> z) = 0;
  /// True: the FMU asks for the end.
  virtual bool do_step(double t, double h) = 0;
  /// The rate of an input from here on, if the FMU interpolates.
  virtual void set_rate(const FmuDescription::Variable& variable, double rate) = 0;
  virtual std::string save() = 0;
  virtual void restore(const std::string& saved) = 0;
};

std::unique_ptr<FmuCalls> make_fmi2_calls(std::shared_ptr<const FmuLibrary> library, const FmuDescription& fmu, bool exchange,
                                          const std::string& name);
std::unique_ptr<FmuCalls> make_fmi3_calls(std::shared_ptr<const FmuLibrary> library, const FmuDescription& fmu, bool exchange,
                                          const std::string& name);

}  // namespace linkwork
