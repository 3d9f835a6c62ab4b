#pragma once

#include <cstddef>

// The C interface of FMI 2.0, as the standard defines it (sections 2.1, 3.2 and 4.2): types, and what functions take. `LIST`
// names each function once: with it they are found in a library, and those of an exported FMU are held against the standard.

extern "C" {

using fmi2Component = void*;
using fmi2ComponentEnvironment = void*;
using fmi2FMUstate = void*;
using fmi2ValueReference = unsigned int;
using fmi2Real = double;
using fmi2Integer = int;
using fmi2Boolean = int;
using fmi2String = const char*;
using fmi2Byte = char;

enum fmi2Status { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending };
enum fmi2Type { fmi2ModelExchange, fmi2CoSimulation };
enum fmi2StatusKind { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated };

struct fmi2CallbackFunctions {
  void (*logger)(fmi2ComponentEnvironment, fmi2String instance, fmi2Status, fmi2String category, fmi2String message, ...);
  void* (*allocateMemory)(std::size_t, std::size_t);
  void (*freeMemory)(void*);
  void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
  fmi2ComponentEnvironment componentEnvironment;
};

struct fmi2EventInfo {
  fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged, valuesOfContinuousStatesChanged,
      nextEventTimeDefined;
  fmi2Real nextEventTime;
};

}  // extern "C"

#define LINKWORK_FMI2_FUNCTIONS(X)                                                                                      \
  X(const char*, GetTypesPlatform, (void))                                                                              \
  X(const char*, GetVersion, (void))                                                                                    \
  X(fmi2Status, SetDebugLogging, (fmi2Component, fmi2Boolean, std::size_t, const fmi2String[]))                         \
  X(fmi2Component, Instantiate,                                                                                         \
    (fmi2String, fmi2Type, fmi2String, fmi2String, const fmi2CallbackFunctions*, fmi2Boolean, fmi2Boolean))             \
  X(void, FreeInstance, (fmi2Component))                                                                                \
  X(fmi2Status, SetupExperiment, (fmi2Component, fmi2Boolean, fmi2Real, fmi2Real, fmi2Boolean, fmi2Real))               \
  X(fmi2Status, EnterInitializationMode, (fmi2Component))                                                               \
  X(fmi2Status, ExitInitializationMode, (fmi2Component))                                                                \
  X(fmi2Status, Terminate, (fmi2Component))                                                                             \
  X(fmi2Status, Reset, (fmi2Component))                                                                                 \
  X(fmi2Status, GetReal, (fmi2Component, const fmi2ValueReference[], std::size_t, fmi2Real[]))                          \
  X(fmi2Status, GetInteger, (fmi2Component, const fmi2ValueReference[], std::size_t, fmi2Integer[]))                    \
  X(fmi2Status, GetBoolean, (fmi2Component, const fmi2ValueReference[], std::size_t, fmi2Boolean[]))                    \
  X(fmi2Status, GetString, (fmi2Component, const fmi2ValueReference[], std::size_t, fmi2String[]))                      \
  X(fmi2Status, SetReal, (fmi2Component, const fmi2ValueReference[], std::size_t, const fmi2Real[]))                    \
  X(fmi2Status, SetInteger, (fmi2Component, const fmi2ValueReference[], std::size_t, const fmi2Integer[]))              \
  X(fmi2Status, SetBoolean, (fmi2Component, const fmi2ValueReference[], std::size_t, const fmi2Boolean[]))              \
  X(fmi2Status, SetString, (fmi2Component, const fmi2ValueReference[], std::size_t, const fmi2String[]))                \
  X(fmi2Status, GetFMUstate, (fmi2Component, fmi2FMUstate*))                                                            \
  X(fmi2Status, SetFMUstate, (fmi2Component, fmi2FMUstate))                                                             \
  X(fmi2Status, FreeFMUstate, (fmi2Component, fmi2FMUstate*))                                                           \
  X(fmi2Status, SerializedFMUstateSize, (fmi2Component, fmi2FMUstate, std::size_t*))                                    \
  X(fmi2Status, SerializeFMUstate, (fmi2Component, fmi2FMUstate, fmi2Byte[], std::size_t))                              \
  X(fmi2Status, DeSerializeFMUstate, (fmi2Component, const fmi2Byte[], std::size_t, fmi2FMUstate*))                     \
  X(fmi2Status, GetDirectionalDerivative,                                                                               \
    (fmi2Component, const fmi2ValueReference[], std::size_t, const fmi2ValueReference[], std::size_t, const fmi2Real[], \
     fmi2Real[]))                                                                                                       \
  X(fmi2Status, EnterEventMode, (fmi2Component))                                                                        \
  X(fmi2Status, NewDiscreteStates, (fmi2Component, fmi2EventInfo*))                                                     \
  X(fmi2Status, EnterContinuousTimeMode, (fmi2Component))                                                               \
  X(fmi2Status, CompletedIntegratorStep, (fmi2Component, fmi2Boolean, fmi2Boolean*, fmi2Boolean*))                      \
  X(fmi2Status, SetTime, (fmi2Component, fmi2Real))                                                                     \
  X(fmi2Status, SetContinuousStates, (fmi2Component, const fmi2Real[], std::size_t))                                    \
  X(fmi2Status, GetDerivatives, (fmi2Component, fmi2Real[], std::size_t))                                               \
  X(fmi2Status, GetEventIndicators, (fmi2Component, fmi2Real[], std::size_t))                                           \
  X(fmi2Status, GetContinuousStates, (fmi2Component, fmi2Real[], std::size_t))                                          \
  X(fmi2Status, GetNominalsOfContinuousStates, (fmi2Component, fmi2Real[], std::size_t))                                \
  X(fmi2Status, SetRealInputDerivatives,                                                                                \
    (fmi2Component, const fmi2ValueReference[], std::size_t, const fmi2Integer[], const fmi2Real[]))                    \
  X(fmi2Status, GetRealOutputDerivatives,                                                                               \
    (fmi2Component, const fmi2ValueReference[], std::size_t, const fmi2Integer[], fmi2Real[]))                          \
  X(fmi2Status, DoStep, (fmi2Component, fmi2Real, fmi2Real, fmi2Boolean))                                               \
  X(fmi2Status, CancelStep, (fmi2Component))                                                                            \
  X(fmi2Status, GetStatus, (fmi2Component, fmi2StatusKind, fmi2Status*))                                                \
  X(fmi2Status, GetRealStatus, (fmi2Component, fmi2StatusKind, fmi2Real*))                                              \
  X(fmi2Status, GetIntegerStatus, (fmi2Component, fmi2StatusKind, fmi2Integer*))                                        \
  X(fmi2Status, GetBooleanStatus, (fmi2Component, fmi2StatusKind, fmi2Boolean*))                                        \
  X(fmi2Status, GetStringStatus, (fmi2Component, fmi2StatusKind, fmi2String*))
