#include <fmt/format.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "linkwork/fmi/fmi2_interface.h"
#include "linkwork/fmi/fmu_calls.h"
#include "linkwork/model/input_error.h"

namespace linkwork {

namespace {

using Type = FmuDescription::Type;

struct Functions2 {
#define LINKWORK_POINTER(Result, name, Arguments) Result(*name) Arguments = nullptr;
  LINKWORK_FMI2_FUNCTIONS(LINKWORK_POINTER)
#undef LINKWORK_POINTER
};

/// "file:///path", with what a URI cannot have written as %XX.
std::string location_of(const std::filesystem::path& folder) {
  std::string location = "file://";
  for (const char c : folder.string()) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/-_.~").find(c) != std::string_view::npos;
    location += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return location;
}

class Calls2 : public FmuCalls {
 public:
  Calls2(std::shared_ptr<const FmuLibrary> library, const FmuDescription& fmu, bool exchange, const std::string& name)
      : library_(std::move(library)), name_(name) {
#define LINKWORK_FIND(Result, name, Arguments) \
  call_.name = reinterpret_cast<decltype(call_.name)>(library_->function("fmi2" #name));
    LINKWORK_FMI2_FUNCTIONS(LINKWORK_FIND)
#undef LINKWORK_FIND
    callbacks_ = {log, std::calloc, std::free, nullptr, this};
    const std::string resources = location_of(library_->resources());
    component_ = need(call_.Instantiate, "Instantiate")(name_.c_str(), exchange ? fmi2ModelExchange : fmi2CoSimulation,
                                                        fmu.token.c_str(), resources.c_str(), &callbacks_, 0, 0);
    if (component_ == nullptr)
      throw InputError({library_->name(), 0, 0},
                       fmt::format("the FMU refuses to be instantiated{}", said_.empty() ? "" : ": " + said_));
  }
  ~Calls2() override {
    if (is_running_ && call_.Terminate != nullptr) call_.Terminate(component_);
    if (!is_lost_ && call_.FreeInstance != nullptr) call_.FreeInstance(component_);
  }

  void set(const FmuDescription::Variable& v, double value) override {
    const fmi2ValueReference reference = v.reference;
    if (v.type == Type::kFloat64) {
      check(need(call_.SetReal, "SetReal")(component_, &reference, 1, &value), "SetReal");
    } else if (v.type == Type::kBoolean) {
      const fmi2Boolean flag = value != 0.0;
      check(need(call_.SetBoolean, "SetBoolean")(component_, &reference, 1, &flag), "SetBoolean");
    } else {
      const auto whole = typed_value<fmi2Integer>(v, value);
      check(need(call_.SetInteger, "SetInteger")(component_, &reference, 1, &whole), "SetInteger");
    }
  }
  double get(const FmuDescription::Variable& v) override {
    const fmi2ValueReference reference = v.reference;
    if (v.type == Type::kFloat64) {
      fmi2Real value = 0.0;
      check(need(call_.GetReal, "GetReal")(component_, &reference, 1, &value), "GetReal");
      return value;
    }
    fmi2Integer value = 0;
    if (v.type == Type::kBoolean)
      check(need(call_.GetBoolean, "GetBoolean")(component_, &reference, 1, &value), "GetBoolean");
    else
      check(need(call_.GetInteger, "GetInteger")(component_, &reference, 1, &value), "GetInteger");
    return v.type == Type::kBoolean ? (value != 0 ? 1.0 : 0.0) : value;
  }
  void set_text(const FmuDescription::Variable& v, const std::string& text) override {
    const fmi2ValueReference reference = v.reference;
    const fmi2String value = text.c_str();
    check(need(call_.SetString, "SetString")(component_, &reference, 1, &value), "SetString");
  }

  void enter_initialization(double t) override {
    check(need(call_.SetupExperiment, "SetupExperiment")(component_, 0, 0.0, t, 0, 0.0), "SetupExperiment");
    check(need(call_.EnterInitializationMode, "EnterInitializationMode")(component_), "EnterInitializationMode");
  }
  void exit_initialization() override {
    check(need(call_.ExitInitializationMode, "ExitInitializationMode")(component_), "ExitInitializationMode");
    is_running_ = true;
  }
  void enter_event() override { check(need(call_.EnterEventMode, "EnterEventMode")(component_), "EnterEventMode"); }
  void enter_continuous() override {
    check(need(call_.EnterContinuousTimeMode, "EnterContinuousTimeMode")(component_), "EnterContinuousTimeMode");
  }
  BlockInstance::Happened update() override {
    fmi2EventInfo info{};
    check(need(call_.NewDiscreteStates, "NewDiscreteStates")(component_, &info), "NewDiscreteStates");
    return {info.newDiscreteStatesNeeded != 0, info.terminateSimulation != 0,
            info.nextEventTimeDefined != 0 ? std::optional(info.nextEventTime) : std::nullopt};
  }
  BlockInstance::StepEnd complete_step() override {
    fmi2Boolean event = 0, terminate = 0;
    check(need(call_.CompletedIntegratorStep, "CompletedIntegratorStep")(component_, 1, &event, &terminate),
          "CompletedIntegratorStep");
    return {event != 0, terminate != 0};
  }
  void set_time(double t) override { check(need(call_.SetTime, "SetTime")(component_, t), "SetTime"); }
  void set_states(std::span<const double> x) override {
    check(need(call_.SetContinuousStates, "SetContinuousStates")(component_, x.data(), x.size()), "SetContinuousStates");
  }
  void get_states(std::span<double> x) override {
    check(need(call_.GetContinuousStates, "GetContinuousStates")(component_, x.data(), x.size()), "GetContinuousStates");
  }
  void rates(std::span<double> x) override {
    check(need(call_.GetDerivatives, "GetDerivatives")(component_, x.data(), x.size()), "GetDerivatives");
  }
  void indicators(std::span<double> z) override {
    check(need(call_.GetEventIndicators, "GetEventIndicators")(component_, z.data(), z.size()), "GetEventIndicators");
  }
  bool do_step(double t, double h) override {
    const fmi2Status status = need(call_.DoStep, "DoStep")(component_, t, h, 1);
    fmi2Boolean ended = 0;
    if (status == fmi2Discard && call_.GetBooleanStatus != nullptr &&
        call_.GetBooleanStatus(component_, fmi2Terminated, &ended) == fmi2OK && ended != 0)
      return true;
    check(status, "DoStep");
    return false;
  }
  void set_rate(const FmuDescription::Variable& v, double rate) override {
    const fmi2ValueReference reference = v.reference;
    const fmi2Integer order = 1;
    check(need(call_.SetRealInputDerivatives, "SetRealInputDerivatives")(component_, &reference, 1, &order, &rate),
          "SetRealInputDerivatives");
  }

  std::string save() override {
    fmi2FMUstate state = nullptr;
    check(need(call_.GetFMUstate, "GetFMUstate")(component_, &state), "GetFMUstate");
    std::size_t size = 0;
    check(need(call_.SerializedFMUstateSize, "SerializedFMUstateSize")(component_, state, &size), "SerializedFMUstateSize");
    std::string bytes(size, '\0');
    check(need(call_.SerializeFMUstate, "SerializeFMUstate")(component_, state, bytes.data(), size), "SerializeFMUstate");
    check(need(call_.FreeFMUstate, "FreeFMUstate")(component_, &state), "FreeFMUstate");
    return bytes;
  }
  void restore(const std::string& saved) override {
    fmi2FMUstate state = nullptr;
    check(need(call_.DeSerializeFMUstate, "DeSerializeFMUstate")(component_, saved.data(), saved.size(), &state),
          "DeSerializeFMUstate");
    check(need(call_.SetFMUstate, "SetFMUstate")(component_, state), "SetFMUstate");
    check(need(call_.FreeFMUstate, "FreeFMUstate")(component_, &state), "FreeFMUstate");
  }

 private:
  template <class Function>
  Function need(Function function, const char* what) const {
    if (function == nullptr) throw InputError({library_->name(), 0, 0}, fmt::format("the FMU has no function fmi2{}", what));
    return function;
  }

  void check(fmi2Status status, const char* what) {
    if (status == fmi2OK || status == fmi2Warning) return;
    is_running_ = is_running_ && status == fmi2Discard;
    is_lost_ = is_lost_ || status == fmi2Fatal;
    throw BlockError(
        fmt::format("fmi2{} of the FMU '{}' fails{}", what, name_, said_.empty() ? "" : ": " + std::exchange(said_, "")));
  }

  static void log(fmi2ComponentEnvironment environment, fmi2String, fmi2Status status, fmi2String, fmi2String message, ...) {
    if (environment == nullptr || message == nullptr || status == fmi2OK) return;
    char text[1000];
    va_list arguments;
    va_start(arguments, message);
    std::vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    static_cast<Calls2*>(environment)->said_ = text;
  }

  std::shared_ptr<const FmuLibrary> library_;
  std::string name_, said_;
  Functions2 call_;
  fmi2CallbackFunctions callbacks_{};
  fmi2Component component_ = nullptr;
  bool is_running_ = false, is_lost_ = false;
};

}  // namespace

std::unique_ptr<FmuCalls> make_fmi2_calls(std::shared_ptr<const FmuLibrary> library, const FmuDescription& fmu, bool exchange,
                                          const std::string& name) {
  return std::make_unique<Calls2>(std::move(library), fmu, exchange, name);
}

}  // namespace linkwork
