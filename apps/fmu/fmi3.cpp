#include <cstring>
#include <type_traits>

#include "apps/fmu/component.h"
#include "linkwork/fmi/fmi3_interface.h"

// The functions of FMI 3.0 of every exported FMU.

#define LINKWORK_EXPORT extern "C" __attribute__((visibility("default")))

namespace linkwork::fmu {
namespace {

template <class Call>
fmi3Status guard(fmi3Instance instance, Call call) {
  return guarded(instance, fmi3OK, fmi3Discard, fmi3Error, call);
}

fmi3Status refuse(fmi3Instance instance, const char* what) {
  return guard(instance, [&](Component&) { throw std::logic_error(what); });
}

fmi3Status refuse_type(fmi3Instance instance, std::size_t count, const char* type) {
  return guard(instance, [&](Component&) {
    if (count > 0) throw std::logic_error(std::string("this FMU has no variables of type ") + type);
  });
}

FmuInstance::State& state_of(fmi3FMUState state) {
  if (state == nullptr) throw std::logic_error("there is no state");
  return *static_cast<FmuInstance::State*>(state);
}

fmi3Instance instantiate(fmi3String name, fmi3String token, fmi3String resources, bool logging,
                         fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger, Kind kind) {
  auto component = std::make_unique<Component>();
  component->name = name != nullptr ? name : "";
  component->logging = logging;
  const auto log = [logger, environment](fmi3Status status, const char* category, const std::string& message) {
    if (logger != nullptr) logger(environment, status, category, message.c_str());
  };
  component->tell = [log](Failure failure, const char* category, const std::string& message) {
    log(failure == Failure::kDiscard ? fmi3Discard : fmi3Error, category, message);
  };
  component->mention = [log](const char* category, const std::string& message) { log(fmi3OK, category, message); };
  const fmi3Status made = guard(component.get(), [&](Component& of) {
    if (token == nullptr || resources == nullptr) throw std::logic_error("the token or the path of the resources is missing");
    of.instance = std::make_unique<FmuInstance>(resources, token, kind);
  });
  return made == fmi3OK ? component.release() : nullptr;
}

void check_count(std::size_t references, std::size_t values) {
  if (references != values) throw std::logic_error("all variables of this FMU are scalars: as many values as references");
}

}  // namespace
}  // namespace linkwork::fmu

using namespace linkwork;       // NOLINT: functions of C have no namespace
using namespace linkwork::fmu;  // NOLINT

LINKWORK_EXPORT const char* fmi3GetVersion() { return "3.0"; }

LINKWORK_EXPORT fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, std::size_t, const fmi3String[]) {
  return guard(c, [&](Component& component) { component.logging = on; });
}

LINKWORK_EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean,
                                                          fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                                          fmi3LogMessageCallback log) {
  return instantiate(name, token, resources, logging, environment, log, Kind::kModelExchange);
}

LINKWORK_EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean,
                                                         fmi3Boolean logging, fmi3Boolean, fmi3Boolean,
                                                         const fmi3ValueReference[], std::size_t,
                                                         fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                                         fmi3IntermediateUpdateCallback) {
  return instantiate(name, token, resources, logging, environment, log, Kind::kCoSimulation);
}

LINKWORK_EXPORT fmi3Instance fmi3InstantiateScheduledExecution(fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean,
                                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                                               fmi3ClockUpdateCallback, fmi3LockPreemptionCallback,
                                                               fmi3UnlockPreemptionCallback) {
  if (log != nullptr) log(environment, fmi3Error, "logStatusError", "this FMU has no scheduled execution");
  return nullptr;
}

LINKWORK_EXPORT void fmi3FreeInstance(fmi3Instance c) { delete static_cast<Component*>(c); }

LINKWORK_EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                                       fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop) {
  return guard(c, [&](Component& component) {
    component.instance->require({Mode::kInstantiated});
    component.instance->set_up(start, has_stop ? std::optional(stop) : std::nullopt,
                               has_tolerance ? std::optional(tolerance) : std::nullopt);
    component.instance->enter_initialization();
  });
}
LINKWORK_EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance c) {
  return guard(c, [](Component& component) { component.instance->exit_initialization(); });
}
LINKWORK_EXPORT fmi3Status fmi3EnterEventMode(fmi3Instance c) {
  return guard(c, [](Component& component) { component.instance->enter_event_mode(); });
}
LINKWORK_EXPORT fmi3Status fmi3Terminate(fmi3Instance c) {
  return guard(c, [](Component& component) {
    component.instance->require({Mode::kEvent, Mode::kContinuous, Mode::kStep});
    component.instance->terminate();
  });
}
LINKWORK_EXPORT fmi3Status fmi3Reset(fmi3Instance c) {
  return guard(c, [](Component& component) { component.instance->reset(); });
}

// --- variables

LINKWORK_EXPORT fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference list[], std::size_t n, fmi3Float64 values[],
                                          std::size_t count) {
  return guard(c, [&](Component& component) {
    check_count(n, count);
    for (std::size_t k = 0; k < n; ++k) values[k] = component.instance->get(list[k]);
  });
}
LINKWORK_EXPORT fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference list[], std::size_t n,
                                          const fmi3Float64 values[], std::size_t count) {
  return guard(c, [&](Component& component) {
    check_count(n, count);
    for (std::size_t k = 0; k < n; ++k) component.instance->set(list[k], values[k]);
  });
}

#define LINKWORK_NO_VALUES(Type)                                                                                          \
  LINKWORK_EXPORT fmi3Status fmi3Get##Type(fmi3Instance c, const fmi3ValueReference[], std::size_t n, fmi3##Type[],       \
                                           std::size_t) {                                                                 \
    return refuse_type(c, n, #Type);                                                                                      \
  }                                                                                                                       \
  LINKWORK_EXPORT fmi3Status fmi3Set##Type(fmi3Instance c, const fmi3ValueReference[], std::size_t n, const fmi3##Type[], \
                                           std::size_t) {                                                                 \
    return refuse_type(c, n, #Type);                                                                                      \
  }
LINKWORK_NO_VALUES(Float32)
LINKWORK_NO_VALUES(Int8)
LINKWORK_NO_VALUES(UInt8)
LINKWORK_NO_VALUES(Int16)
LINKWORK_NO_VALUES(UInt16)
LINKWORK_NO_VALUES(Int32)
LINKWORK_NO_VALUES(UInt32)
LINKWORK_NO_VALUES(Int64)
LINKWORK_NO_VALUES(UInt64)
LINKWORK_NO_VALUES(Boolean)
LINKWORK_NO_VALUES(String)

LINKWORK_EXPORT fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference[], std::size_t n, std::size_t[], fmi3Binary[],
                                         std::size_t) {
  return refuse_type(c, n, "Binary");
}
LINKWORK_EXPORT fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference[], std::size_t n, const std::size_t[],
                                         const fmi3Binary[], std::size_t) {
  return refuse_type(c, n, "Binary");
}

constexpr const char* kNoClocks = "this FMU has no clocks";
LINKWORK_EXPORT fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference[], std::size_t, fmi3Clock[]) {
  return refuse(c, kNoClocks);
}
LINKWORK_EXPORT fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference[], std::size_t, const fmi3Clock[]) {
  return refuse(c, kNoClocks);
}
LINKWORK_EXPORT fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, const fmi3ValueReference[], std::size_t, fmi3Float64[],
                                                  fmi3IntervalQualifier[]) {
  return refuse(c, kNoClocks);
}
LINKWORK_EXPORT fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference[], std::size_t, fmi3UInt64[],
                                                   fmi3UInt64[], fmi3IntervalQualifier[]) {
  return refuse(c, kNoClocks);
}
LINKWORK_EXPORT fmi3Status fmi3GetShiftDecimal(fmi3Instance c, const fmi3ValueReference[], std::size_t, fmi3Float64[]) {
  return refuse(c, kNoClocks);
}
LINKWORK_EXPORT fmi3Status fmi3GetShiftFraction(fmi3Instance c, const fmi3ValueReference[], std::size_t, fmi3UInt64[],
                                                fmi3UInt64[]) {
  return refuse(c, kNoClocks);
}
LINKWORK_EXPORT fmi3Status fmi3SetIntervalDecimal(fmi3Instance c, const fmi3ValueReference[], std::size_t, const fmi3Float64[]) {
  return refuse(c, kNoClocks);
}
LINKWORK_EXPORT fmi3Status fmi3SetIntervalFraction(fmi3Instance c, const fmi3ValueReference[], std::size_t, const fmi3UInt64[],
                                                   const fmi3UInt64[]) {
  return refuse(c, kNoClocks);
}
LINKWORK_EXPORT fmi3Status fmi3SetShiftDecimal(fmi3Instance c, const fmi3ValueReference[], std::size_t, const fmi3Float64[]) {
  return refuse(c, kNoClocks);
}
LINKWORK_EXPORT fmi3Status fmi3SetShiftFraction(fmi3Instance c, const fmi3ValueReference[], std::size_t, const fmi3UInt64[],
                                                const fmi3UInt64[]) {
  return refuse(c, kNoClocks);
}
LINKWORK_EXPORT fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference, fmi3Float64) {
  return refuse(c, kNoClocks);
}

constexpr const char* kNoDependencies = "dependencies of single elements are not given";
LINKWORK_EXPORT fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference, std::size_t*) {
  return refuse(c, kNoDependencies);
}
LINKWORK_EXPORT fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference, std::size_t[], fmi3ValueReference[],
                                                       std::size_t[], fmi3DependencyKind[], std::size_t) {
  return refuse(c, kNoDependencies);
}

LINKWORK_EXPORT fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], std::size_t n,
                                                        const fmi3ValueReference knowns[], std::size_t m,
                                                        const fmi3Float64 along[], std::size_t along_count, fmi3Float64 values[],
                                                        std::size_t count) {
  return guard(c, [&](Component& component) {
    component.instance->require({Mode::kInitialization, Mode::kEvent, Mode::kContinuous});
    check_count(m, along_count);
    check_count(n, count);
    copy(component.instance->derivative(references(unknowns, n), references(knowns, m), along), values, n);
  });
}
LINKWORK_EXPORT fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference[], std::size_t,
                                                    const fmi3ValueReference[], std::size_t, const fmi3Float64[], std::size_t,
                                                    fmi3Float64[], std::size_t) {
  return refuse(c, "adjoint derivatives are not given");
}

LINKWORK_EXPORT fmi3Status fmi3EnterConfigurationMode(fmi3Instance c) {
  return refuse(c, "this FMU has no structural parameters");
}
LINKWORK_EXPORT fmi3Status fmi3ExitConfigurationMode(fmi3Instance c) {
  return refuse(c, "this FMU has no structural parameters");
}

// --- states of the FMU

LINKWORK_EXPORT fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState* state) {
  return guard(c, [&](Component& component) {
    auto saved = std::make_unique<FmuInstance::State>(component.instance->save());
    delete static_cast<FmuInstance::State*>(*state);
    *state = saved.release();
  });
}
LINKWORK_EXPORT fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state) {
  return guard(c, [&](Component& component) { component.instance->restore(state_of(state)); });
}
LINKWORK_EXPORT fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState* state) {
  return guard(c, [&](Component&) {
    if (state == nullptr) return;
    delete static_cast<FmuInstance::State*>(*state);
    *state = nullptr;
  });
}
LINKWORK_EXPORT fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, std::size_t* size) {
  return guard(c, [&](Component&) { *size = FmuInstance::text_of(state_of(state)).size(); });
}
LINKWORK_EXPORT fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], std::size_t size) {
  return guard(c, [&](Component&) {
    const std::string text = FmuInstance::text_of(state_of(state));
    if (text.size() > size) throw std::logic_error("the array is too short for the state");
    std::memcpy(bytes, text.data(), text.size());
    std::memset(bytes + text.size(), ' ', size - text.size());
  });
}
LINKWORK_EXPORT fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], std::size_t size,
                                                   fmi3FMUState* state) {
  return guard(c, [&](Component&) {
    const std::string text(reinterpret_cast<const char*>(bytes), size);
    auto read = std::make_unique<FmuInstance::State>(FmuInstance::state_of(text));
    delete static_cast<FmuInstance::State*>(*state);
    *state = read.release();
  });
}

// --- model exchange

LINKWORK_EXPORT fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c) {
  return guard(c, [](Component&) {});
}

LINKWORK_EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean* again, fmi3Boolean* terminate,
                                                    fmi3Boolean* nominals, fmi3Boolean* values, fmi3Boolean* has_next,
                                                    fmi3Float64* next) {
  return guard(c, [&](Component& component) {
    component.instance->require({Mode::kEvent});
    ExchangeEngine& engine = component.instance->exchange();
    const ExchangeEngine::Happened happened = engine.handle_events();
    component.mention_events(happened.what, engine.time());
    *again = false;
    *terminate = happened.stopped;
    *nominals = *values = happened.states_changed;
    *has_next = happened.next_time.has_value();
    if (*has_next) *next = *happened.next_time;
  });
}

LINKWORK_EXPORT fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c) {
  return guard(c, [](Component& component) { component.instance->enter_continuous_mode(); });
}
LINKWORK_EXPORT fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean, fmi3Boolean* event, fmi3Boolean* terminate) {
  return guard(c, [&](Component& component) {
    component.instance->require({Mode::kContinuous});
    *event = component.instance->exchange().complete_step();
    *terminate = false;
  });
}
LINKWORK_EXPORT fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 t) {
  return guard(c, [&](Component& component) {
    component.instance->require({Mode::kEvent, Mode::kContinuous});
    component.instance->exchange().set_time(t);
  });
}
LINKWORK_EXPORT fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], std::size_t n) {
  return guard(c, [&](Component& component) {
    component.instance->require({Mode::kEvent, Mode::kContinuous});
    component.instance->set_states(x, n);
  });
}
LINKWORK_EXPORT fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], std::size_t n) {
  return guard(c, [&](Component& component) { copy(component.instance->exchange().states(), x, n); });
}
LINKWORK_EXPORT fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 x[], std::size_t n) {
  return guard(c, [&](Component& component) { copy(component.instance->exchange().rates(), x, n); });
}
LINKWORK_EXPORT fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 z[], std::size_t n) {
  return guard(c, [&](Component& component) { copy(component.instance->exchange().indicators(), z, n); });
}
LINKWORK_EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 x[], std::size_t n) {
  return guard(c, [&](Component& component) { copy(component.instance->exchange().nominals(), x, n); });
}
LINKWORK_EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, std::size_t* n) {
  return guard(c, [&](Component& component) { *n = component.instance->indicator_count(); });
}
LINKWORK_EXPORT fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, std::size_t* n) {
  return guard(c, [&](Component& component) { *n = component.instance->state_count(); });
}

// --- co-simulation

LINKWORK_EXPORT fmi3Status fmi3EnterStepMode(fmi3Instance c) { return refuse(c, "co-simulation has no event mode here"); }

LINKWORK_EXPORT fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference[], std::size_t, const fmi3Int32[],
                                                    fmi3Float64[], std::size_t) {
  return refuse(c, "derivatives of outputs are not given");
}

LINKWORK_EXPORT fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 from, fmi3Float64 by, fmi3Boolean, fmi3Boolean* event,
                                      fmi3Boolean* terminate, fmi3Boolean* early, fmi3Float64* reached) {
  return guard(c, [&](Component& component) {
    *event = *terminate = *early = false;
    try {
      *terminate = !component.instance->do_step(from, by);
    } catch (const SimulationError& error) {
      throw std::runtime_error(error.what());  // it cannot go back by itself
    }
    if (*terminate) component.mention_events("the run was ended by an event", component.instance->time());
    *reached = component.instance->time();
  });
}

#define LINKWORK_AS_IN_STANDARD(Result, name, Arguments) \
  static_assert(std::is_same_v<decltype(&fmi3##name), Result(*) Arguments>);
LINKWORK_FMI3_FUNCTIONS(LINKWORK_AS_IN_STANDARD)
