#include <fmt/format.h>

#include <utility>

#include "linkwork/fmi/fmi3_interface.h"
#include "linkwork/fmi/fmu_calls.h"
#include "linkwork/model/input_error.h"

namespace linkwork {

namespace {

using Type = FmuDescription::Type;

struct Functions3 {
#define LINKWORK_POINTER(Result, name, Arguments) Result(*name) Arguments = nullptr;
  LINKWORK_FMI3_FUNCTIONS(LINKWORK_POINTER)
#undef LINKWORK_POINTER
};

class Calls3 : public FmuCalls {
 public:
  Calls3(std::shared_ptr<const FmuLibrary> library, const FmuDescription& fmu, bool exchange, const std::string& name)
      : library_(std::move(library)), name_(name) {
#define LINKWORK_FIND(Result, name, Arguments) \
  call_.name = reinterpret_cast<decltype(call_.name)>(library_->function("fmi3" #name));
    LINKWORK_FMI3_FUNCTIONS(LINKWORK_FIND)
#undef LINKWORK_FIND
    const std::string resources = library_->resources().string() + "/";
    instance_ = exchange ? need(call_.InstantiateModelExchange, "InstantiateModelExchange")(
                               name_.c_str(), fmu.token.c_str(), resources.c_str(), false, false, this, log)
                         : need(call_.InstantiateCoSimulation, "InstantiateCoSimulation")(name_.c_str(), fmu.token.c_str(),
                                                                                          resources.c_str(), false, false, false,
                                                                                          false, nullptr, 0, this, log, nullptr);
    if (instance_ == nullptr)
      throw InputError({library_->name(), 0, 0},
                       fmt::format("the FMU refuses to be instantiated{}", said_.empty() ? "" : ": " + said_));
  }
  ~Calls3() override {
    if (is_running_ && call_.Terminate != nullptr) call_.Terminate(instance_);
    if (!is_lost_ && call_.FreeInstance != nullptr) call_.FreeInstance(instance_);
  }

  void set(const FmuDescription::Variable& v, double value) override {
    switch (v.type) {
#define LINKWORK_SET(Kind)                                                                         \
  case Type::k##Kind: {                                                                            \
    const auto typed = typed_value<fmi3##Kind>(v, value);                                          \
    check(need(call_.Set##Kind, "Set" #Kind)(instance_, &v.reference, 1, &typed, 1), "Set" #Kind); \
    return;                                                                                        \
  }
      LINKWORK_SET(Float64)
      LINKWORK_SET(Float32)
      LINKWORK_SET(Int8)
      LINKWORK_SET(UInt8)
      LINKWORK_SET(Int16)
      LINKWORK_SET(UInt16)
      LINKWORK_SET(Int32)
      LINKWORK_SET(UInt32)
      LINKWORK_SET(Int64)
      LINKWORK_SET(UInt64)
      LINKWORK_SET(Boolean)
#undef LINKWORK_SET
      default:
        throw BlockError(fmt::format("'{}' is no number", v.name));
    }
  }

  double get(const FmuDescription::Variable& v) override {
    switch (v.type) {
#define LINKWORK_GET(Kind)                                                                         \
  case Type::k##Kind: {                                                                            \
    fmi3##Kind typed{};                                                                            \
    check(need(call_.Get##Kind, "Get" #Kind)(instance_, &v.reference, 1, &typed, 1), "Get" #Kind); \
    return static_cast<double>(typed);                                                             \
  }
      LINKWORK_GET(Float64)
      LINKWORK_GET(Float32)
      LINKWORK_GET(Int8)
      LINKWORK_GET(UInt8)
      LINKWORK_GET(Int16)
      LINKWORK_GET(UInt16)
      LINKWORK_GET(Int32)
      LINKWORK_GET(UInt32)
      LINKWORK_GET(Int64)
      LINKWORK_GET(UInt64)
      LINKWORK_GET(Boolean)
#undef LINKWORK_GET
      default:
        throw BlockError(fmt::format("'{}' is no number", v.name));
    }
  }

  void set_text(const FmuDescription::Variable& v, const std::string& text) override {
    const fmi3String value = text.c_str();
    check(need(call_.SetString, "SetString")(instance_, &v.reference, 1, &value, 1), "SetString");
  }

  void enter_initialization(double t) override {
    check(need(call_.EnterInitializationMode, "EnterInitializationMode")(instance_, false, 0.0, t, false, 0.0),
          "EnterInitializationMode");
  }
  void exit_initialization() override {
    check(need(call_.ExitInitializationMode, "ExitInitializationMode")(instance_), "ExitInitializationMode");
    is_running_ = true;
  }
  void enter_event() override { check(need(call_.EnterEventMode, "EnterEventMode")(instance_), "EnterEventMode"); }
  void enter_continuous() override {
    check(need(call_.EnterContinuousTimeMode, "EnterContinuousTimeMode")(instance_), "EnterContinuousTimeMode");
  }
  BlockInstance::Happened update() override {
    bool again = false, stopped = false, nominals = false, values = false, has_next = false;
    double next = 0.0;
    check(need(call_.UpdateDiscreteStates, "UpdateDiscreteStates")(instance_, &again, &stopped, &nominals, &values, &has_next,
                                                                   &next),
          "UpdateDiscreteStates");
    return {again, stopped, has_next ? std::optional(next) : std::nullopt};
  }
  BlockInstance::StepEnd complete_step() override {
    bool event = false, terminate = false;
    check(need(call_.CompletedIntegratorStep, "CompletedIntegratorStep")(instance_, true, &event, &terminate),
          "CompletedIntegratorStep");
    return {event, terminate};
  }
  void set_time(double t) override { check(need(call_.SetTime, "SetTime")(instance_, t), "SetTime"); }
  void set_states(std::span<const double> x) override {
    check(need(call_.SetContinuousStates, "SetContinuousStates")(instance_, x.data(), x.size()), "SetContinuousStates");
  }
  void get_states(std::span<double> x) override {
    check(need(call_.GetContinuousStates, "GetContinuousStates")(instance_, x.data(), x.size()), "GetContinuousStates");
  }
  void rates(std::span<double> x) override {
    check(need(call_.GetContinuousStateDerivatives, "GetContinuousStateDerivatives")(instance_, x.data(), x.size()),
          "GetContinuousStateDerivatives");
  }
  void indicators(std::span<double> z) override {
    check(need(call_.GetEventIndicators, "GetEventIndicators")(instance_, z.data(), z.size()), "GetEventIndicators");
  }
  bool do_step(double t, double h) override {
    bool event = false, terminate = false, early = false;
    double reached = t;
    check(need(call_.DoStep, "DoStep")(instance_, t, h, true, &event, &terminate, &early, &reached), "DoStep");
    return terminate;
  }
  void set_rate(const FmuDescription::Variable&, double) override {}  // FMI 3 interpolates by intermediate updates

  std::string save() override {
    fmi3FMUState state = nullptr;
    check(need(call_.GetFMUState, "GetFMUState")(instance_, &state), "GetFMUState");
    std::size_t size = 0;
    check(need(call_.SerializedFMUStateSize, "SerializedFMUStateSize")(instance_, state, &size), "SerializedFMUStateSize");
    std::string bytes(size, '\0');
    check(need(call_.SerializeFMUState, "SerializeFMUState")(instance_, state, reinterpret_cast<fmi3Byte*>(bytes.data()), size),
          "SerializeFMUState");
    check(need(call_.FreeFMUState, "FreeFMUState")(instance_, &state), "FreeFMUState");
    return bytes;
  }
  void restore(const std::string& saved) override {
    fmi3FMUState state = nullptr;
    check(need(call_.DeserializeFMUState, "DeserializeFMUState")(instance_, reinterpret_cast<const fmi3Byte*>(saved.data()),
                                                                 saved.size(), &state),
          "DeserializeFMUState");
    check(need(call_.SetFMUState, "SetFMUState")(instance_, state), "SetFMUState");
    check(need(call_.FreeFMUState, "FreeFMUState")(instance_, &state), "FreeFMUState");
  }

 private:
  template <class Function>
  Function need(Function function, const char* what) const {
    if (function == nullptr) throw InputError({library_->name(), 0, 0}, fmt::format("the FMU has no function fmi3{}", what));
    return function;
  }

  void check(fmi3Status status, const char* what) {
    if (status == fmi3OK || status == fmi3Warning) return;
    is_running_ = is_running_ && status == fmi3Discard;
    is_lost_ = is_lost_ || status == fmi3Fatal;
    throw BlockError(
        fmt::format("fmi3{} of the FMU '{}' fails{}", what, name_, said_.empty() ? "" : ": " + std::exchange(said_, "")));
  }

  static void log(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String, fmi3String message) {
    if (environment == nullptr || message == nullptr || status == fmi3OK) return;
    static_cast<Calls3*>(environment)->said_ = std::string(message).substr(0, 1000);
  }

  std::shared_ptr<const FmuLibrary> library_;
  std::string name_, said_;
  Functions3 call_;
  fmi3Instance instance_ = nullptr;
  bool is_running_ = false, is_lost_ = false;
};

}  // namespace

std::unique_ptr<FmuCalls> make_fmi3_calls(std::shared_ptr<const FmuLibrary> library, const FmuDescription& fmu, bool exchange,
                                          const std::string& name) {
  return std::make_unique<Calls3>(std::move(library), fmu, exchange, name);
}

}  // namespace linkwork
