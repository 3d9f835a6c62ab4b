#include <cstring>
#include <string_view>
#include <type_traits>

#include "apps/fmu/component.h"
#include "linkwork/fmi/fmi2_interface.h"

// The functions of FMI 2.0 of every exported FMU.

#define LINKWORK_EXPORT extern "C" __attribute__((visibility("default")))

namespace linkwork::fmu {
namespace {

template <class Call>
fmi2Status guard(fmi2Component component, Call call) {
  return guarded(component, fmi2OK, fmi2Discard, fmi2Error, call);
}

/// "file:///path/with%20blanks" as a path.
std::filesystem::path path_of(std::string_view location) {
  for (const std::string_view scheme : {"file://localhost", "file://", "file:"})
    if (location.starts_with(scheme)) {
      location.remove_prefix(scheme.size());
      break;
    }
  std::string path;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  for (std::size_t i = 0; i < location.size(); ++i) {
    const bool escaped = location[i] == '%' && i + 2 < location.size() &&
                         std::isxdigit(static_cast<unsigned char>(location[i + 1])) &&
                         std::isxdigit(static_cast<unsigned char>(location[i + 2]));
    path += escaped ? static_cast<char>(16 * digit(location[i + 1]) + digit(location[i + 2])) : location[i];
    if (escaped) i += 2;
  }
  return path;
}

fmi2Status refuse_type(fmi2Component component, std::size_t count, const char* type) {
  return guard(component, [&](Component&) {
    if (count > 0) throw std::logic_error(std::string("this FMU has no variables of type ") + type);
  });
}

FmuInstance::State& state_of(fmi2FMUstate state) {
  if (state == nullptr) throw std::logic_error("there is no state");
  return *static_cast<FmuInstance::State*>(state);
}

}  // namespace
}  // namespace linkwork::fmu

using namespace linkwork;       // NOLINT: functions of C have no namespace
using namespace linkwork::fmu;  // NOLINT

LINKWORK_EXPORT const char* fmi2GetTypesPlatform() { return "default"; }
LINKWORK_EXPORT const char* fmi2GetVersion() { return "2.0"; }

LINKWORK_EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, std::size_t, const fmi2String[]) {
  return guard(c, [&](Component& component) { component.logging = on != 0; });
}

LINKWORK_EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                              const fmi2CallbackFunctions* functions, fmi2Boolean, fmi2Boolean logging) {
  if (functions == nullptr || functions->logger == nullptr) return nullptr;
  auto component = std::make_unique<Component>();
  component->name = name != nullptr ? name : "";
  component->logging = logging != 0;
  const auto log = [of = component.get(), logger = functions->logger, environment = functions->componentEnvironment](
                       fmi2Status status, const char* category, const std::string& message) {
    logger(environment, of->name.c_str(), status, category, "%s", message.c_str());
  };
  component->tell = [log](Failure failure, const char* category, const std::string& message) {
    log(failure == Failure::kDiscard ? fmi2Discard : fmi2Error, category, message);
  };
  component->mention = [log](const char* category, const std::string& message) { log(fmi2OK, category, message); };
  const fmi2Status made = guard(component.get(), [&](Component& of) {
    if (guid == nullptr || resources == nullptr) throw std::logic_error("the GUID or the place of the resources is missing");
    of.instance = std::make_unique<FmuInstance>(path_of(resources), guid,
                                                type == fmi2ModelExchange ? Kind::kModelExchange : Kind::kCoSimulation);
  });
  return made == fmi2OK ? component.release() : nullptr;
}

LINKWORK_EXPORT void fmi2FreeInstance(fmi2Component c) { delete static_cast<Component*>(c); }

LINKWORK_EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                                               fmi2Boolean has_stop, fmi2Real stop) {
  return guard(c, [&](Component& component) {
    component.instance->require({Mode::kInstantiated});
    component.instance->set_up(start, has_stop ? std::optional(stop) : std::nullopt,
                               has_tolerance ? std::optional(tolerance) : std::nullopt);
  });
}

LINKWORK_EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
  return guard(c, [](Component& component) { component.instance->enter_initialization(); });
}
LINKWORK_EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
  return guard(c, [](Component& component) { component.instance->exit_initialization(); });
}
LINKWORK_EXPORT fmi2Status fmi2Terminate(fmi2Component c) {
  return guard(c, [](Component& component) {
    component.instance->require({Mode::kEvent, Mode::kContinuous, Mode::kStep});
    component.instance->terminate();
  });
}
LINKWORK_EXPORT fmi2Status fmi2Reset(fmi2Component c) {
  return guard(c, [](Component& component) { component.instance->reset(); });
}

// --- variables

LINKWORK_EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference list[], std::size_t count, fmi2Real values[]) {
  return guard(c, [&](Component& component) {
    for (std::size_t k = 0; k < count; ++k) values[k] = component.instance->get(list[k]);
  });
}
LINKWORK_EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference list[], std::size_t count,
                                       const fmi2Real values[]) {
  return guard(c, [&](Component& component) {
    for (std::size_t k = 0; k < count; ++k) component.instance->set(list[k], values[k]);
  });
}
LINKWORK_EXPORT fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference[], std::size_t n, fmi2Integer[]) {
  return refuse_type(c, n, "Integer");
}
LINKWORK_EXPORT fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference[], std::size_t n, const fmi2Integer[]) {
  return refuse_type(c, n, "Integer");
}
LINKWORK_EXPORT fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference[], std::size_t n, fmi2Boolean[]) {
  return refuse_type(c, n, "Boolean");
}
LINKWORK_EXPORT fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference[], std::size_t n, const fmi2Boolean[]) {
  return refuse_type(c, n, "Boolean");
}
LINKWORK_EXPORT fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference[], std::size_t n, fmi2String[]) {
  return refuse_type(c, n, "String");
}
LINKWORK_EXPORT fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference[], std::size_t n, const fmi2String[]) {
  return refuse_type(c, n, "String");
}

LINKWORK_EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], std::size_t n,
                                                        const fmi2ValueReference knowns[], std::size_t m, const fmi2Real along[],
                                                        fmi2Real values[]) {
  return guard(c, [&](Component& component) {
    component.instance->require({Mode::kInitialization, Mode::kEvent, Mode::kContinuous});
    copy(component.instance->derivative(references(unknowns, n), references(knowns, m), along), values, n);
  });
}

// --- states of the FMU

LINKWORK_EXPORT fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate* state) {
  return guard(c, [&](Component& component) {
    auto saved = std::make_unique<FmuInstance::State>(component.instance->save());
    delete static_cast<FmuInstance::State*>(*state);
    *state = saved.release();
  });
}
LINKWORK_EXPORT fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
  return guard(c, [&](Component& component) { component.instance->restore(state_of(state)); });
}
LINKWORK_EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate* state) {
  return guard(c, [&](Component&) {
    if (state == nullptr) return;
    delete static_cast<FmuInstance::State*>(*state);
    *state = nullptr;
  });
}
LINKWORK_EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, std::size_t* size) {
  return guard(c, [&](Component&) { *size = FmuInstance::text_of(state_of(state)).size(); });
}
LINKWORK_EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], std::size_t size) {
  return guard(c, [&](Component&) {
    const std::string text = FmuInstance::text_of(state_of(state));
    if (text.size() > size) throw std::logic_error("the array is too short for the state");
    std::memcpy(bytes, text.data(), text.size());
    std::memset(bytes + text.size(), ' ', size - text.size());
  });
}
LINKWORK_EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], std::size_t size,
                                                   fmi2FMUstate* state) {
  return guard(c, [&](Component&) {
    auto read = std::make_unique<FmuInstance::State>(FmuInstance::state_of(std::string(bytes, size)));
    delete static_cast<FmuInstance::State*>(*state);
    *state = read.release();
  });
}

// --- model exchange

LINKWORK_EXPORT fmi2Status fmi2EnterEventMode(fmi2Component c) {
  return guard(c, [](Component& component) { component.instance->enter_event_mode(); });
}
LINKWORK_EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
  return guard(c, [](Component& component) { component.instance->enter_continuous_mode(); });
}

LINKWORK_EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo* info) {
  return guard(c, [&](Component& component) {
    component.instance->require({Mode::kEvent});
    ExchangeEngine& engine = component.instance->exchange();
    const ExchangeEngine::Happened happened = engine.handle_events();
    component.mention_events(happened.what, engine.time());
    *info = {.newDiscreteStatesNeeded = 0,
             .terminateSimulation = happened.stopped,
             .nominalsOfContinuousStatesChanged = happened.states_changed,
             .valuesOfContinuousStatesChanged = happened.states_changed,
             .nextEventTimeDefined = happened.next_time.has_value(),
             .nextEventTime = happened.next_time.value_or(0.0)};
  });
}

LINKWORK_EXPORT fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean, fmi2Boolean* event, fmi2Boolean* terminate) {
  return guard(c, [&](Component& component) {
    component.instance->require({Mode::kContinuous});
    *event = component.instance->exchange().complete_step();
    *terminate = 0;
  });
}

LINKWORK_EXPORT fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t) {
  return guard(c, [&](Component& component) {
    component.instance->require({Mode::kEvent, Mode::kContinuous});
    component.instance->exchange().set_time(t);
  });
}
LINKWORK_EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], std::size_t n) {
  return guard(c, [&](Component& component) {
    component.instance->require({Mode::kEvent, Mode::kContinuous});
    component.instance->set_states(x, n);
  });
}
LINKWORK_EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], std::size_t n) {
  return guard(c, [&](Component& component) { copy(component.instance->exchange().states(), x, n); });
}
LINKWORK_EXPORT fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real x[], std::size_t n) {
  return guard(c, [&](Component& component) { copy(component.instance->exchange().rates(), x, n); });
}
LINKWORK_EXPORT fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real z[], std::size_t n) {
  return guard(c, [&](Component& component) { copy(component.instance->exchange().indicators(), z, n); });
}
LINKWORK_EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x[], std::size_t n) {
  return guard(c, [&](Component& component) { copy(component.instance->exchange().nominals(), x, n); });
}

// --- co-simulation

LINKWORK_EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference[], std::size_t n,
                                                       const fmi2Integer[], const fmi2Real[]) {
  return guard(c, [&](Component&) {
    if (n > 0) throw std::logic_error("inputs are held between communication points, not interpolated");
  });
}
LINKWORK_EXPORT fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference[], std::size_t n,
                                                        const fmi2Integer[], fmi2Real[]) {
  return guard(c, [&](Component&) {
    if (n > 0) throw std::logic_error("derivatives of outputs are not given");
  });
}

LINKWORK_EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real from, fmi2Real by, fmi2Boolean) {
  return guard(c, [&](Component& component) {
    try {
      if (component.instance->do_step(from, by)) return fmi2OK;
    } catch (const SimulationError& error) {
      throw std::runtime_error(error.what());  // it cannot go back by itself
    }
    component.mention_events("the run was ended by an event", component.instance->time());
    return fmi2Discard;
  });
}

LINKWORK_EXPORT fmi2Status fmi2CancelStep(fmi2Component c) {
  return guard(c, [](Component&) { throw std::logic_error("steps are not asynchronous"); });
}

LINKWORK_EXPORT fmi2Status fmi2GetStatus(fmi2Component c, fmi2StatusKind, fmi2Status*) {
  return guard(c, [](Component&) { return fmi2Discard; });
}
LINKWORK_EXPORT fmi2Status fmi2GetRealStatus(fmi2Component c, fmi2StatusKind kind, fmi2Real* value) {
  return guard(c, [&](Component& component) {
    if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
    *value = component.instance->time();
    return fmi2OK;
  });
}
LINKWORK_EXPORT fmi2Status fmi2GetIntegerStatus(fmi2Component c, fmi2StatusKind, fmi2Integer*) {
  return guard(c, [](Component&) { return fmi2Discard; });
}
LINKWORK_EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component c, fmi2StatusKind kind, fmi2Boolean* value) {
  return guard(c, [&](Component& component) {
    if (kind != fmi2Terminated) return fmi2Discard;
    *value = component.instance->is_ended();
    return fmi2OK;
  });
}
LINKWORK_EXPORT fmi2Status fmi2GetStringStatus(fmi2Component c, fmi2StatusKind, fmi2String*) {
  return guard(c, [](Component&) { return fmi2Discard; });
}

#define LINKWORK_AS_IN_STANDARD(Result, name, Arguments) \
  static_assert(std::is_same_v<decltype(&fmi2##name), Result(*) Arguments>);
LINKWORK_FMI2_FUNCTIONS(LINKWORK_AS_IN_STANDARD)
