#pragma once

#include <cstddef>
#include <cstdint>

// The C interface of FMI 3.0, as the standard defines it (sections 2.2, 2.3, 3.2, 4.2 and 5.2).

extern "C" {

using fmi3Instance = void*;
using fmi3InstanceEnvironment = void*;
using fmi3FMUState = void*;
using fmi3ValueReference = std::uint32_t;
using fmi3Float32 = float;
using fmi3Float64 = double;
using fmi3Int8 = std::int8_t;
using fmi3UInt8 = std::uint8_t;
using fmi3Int16 = std::int16_t;
using fmi3UInt16 = std::uint16_t;
using fmi3Int32 = std::int32_t;
using fmi3UInt32 = std::uint32_t;
using fmi3Int64 = std::int64_t;
using fmi3UInt64 = std::uint64_t;
using fmi3Boolean = bool;
using fmi3Char = char;
using fmi3String = const fmi3Char*;
using fmi3Byte = std::uint8_t;
using fmi3Binary = const fmi3Byte*;
using fmi3Clock = bool;

enum fmi3Status { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal };
enum fmi3DependencyKind { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent };
enum fmi3IntervalQualifier { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged };

using fmi3LogMessageCallback = void (*)(fmi3InstanceEnvironment, fmi3Status, fmi3String category, fmi3String message);
using fmi3ClockUpdateCallback = void (*)(fmi3InstanceEnvironment);
using fmi3IntermediateUpdateCallback = void (*)(fmi3InstanceEnvironment, fmi3Float64, fmi3Boolean, fmi3Boolean, fmi3Boolean,
                                                fmi3Boolean, fmi3Boolean*, fmi3Float64*);
using fmi3LockPreemptionCallback = void (*)();
using fmi3UnlockPreemptionCallback = void (*)();

}  // extern "C"

/// Get and set functions of each type: what they take beside the instance and the references.
#define LINKWORK_FMI3_TYPES(X) \
  X(Float32) X(Float64) X(Int8) X(UInt8) X(Int16) X(UInt16) X(Int32) X(UInt32) X(Int64) X(UInt64) X(Boolean) X(String)

#define LINKWORK_FMI3_VALUES(X, Type)                                                                          \
  X(fmi3Status, Get##Type, (fmi3Instance, const fmi3ValueReference[], std::size_t, fmi3##Type[], std::size_t)) \
  X(fmi3Status, Set##Type, (fmi3Instance, const fmi3ValueReference[], std::size_t, const fmi3##Type[], std::size_t))

#define LINKWORK_FMI3_FUNCTIONS(X)                                                                                             \
  X(const char*, GetVersion, (void))                                                                                           \
  X(fmi3Status, SetDebugLogging, (fmi3Instance, fmi3Boolean, std::size_t, const fmi3String[]))                                 \
  X(fmi3Instance, InstantiateModelExchange,                                                                                    \
    (fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3InstanceEnvironment, fmi3LogMessageCallback))           \
  X(fmi3Instance, InstantiateCoSimulation,                                                                                     \
    (fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3Boolean, fmi3Boolean, const fmi3ValueReference[],       \
     std::size_t, fmi3InstanceEnvironment, fmi3LogMessageCallback, fmi3IntermediateUpdateCallback))                            \
  X(fmi3Instance, InstantiateScheduledExecution,                                                                               \
    (fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3InstanceEnvironment, fmi3LogMessageCallback,            \
     fmi3ClockUpdateCallback, fmi3LockPreemptionCallback, fmi3UnlockPreemptionCallback))                                       \
  X(void, FreeInstance, (fmi3Instance))                                                                                        \
  X(fmi3Status, EnterInitializationMode, (fmi3Instance, fmi3Boolean, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Float64))      \
  X(fmi3Status, ExitInitializationMode, (fmi3Instance))                                                                        \
  X(fmi3Status, EnterEventMode, (fmi3Instance))                                                                                \
  X(fmi3Status, Terminate, (fmi3Instance))                                                                                     \
  X(fmi3Status, Reset, (fmi3Instance))                                                                                         \
  LINKWORK_FMI3_VALUES(X, Float32)                                                                                             \
  LINKWORK_FMI3_VALUES(X, Float64)                                                                                             \
  LINKWORK_FMI3_VALUES(X, Int8)                                                                                                \
  LINKWORK_FMI3_VALUES(X, UInt8)                                                                                               \
  LINKWORK_FMI3_VALUES(X, Int16)                                                                                               \
  LINKWORK_FMI3_VALUES(X, UInt16)                                                                                              \
  LINKWORK_FMI3_VALUES(X, Int32)                                                                                               \
  LINKWORK_FMI3_VALUES(X, UInt32)                                                                                              \
  LINKWORK_FMI3_VALUES(X, Int64)                                                                                               \
  LINKWORK_FMI3_VALUES(X, UInt64)                                                                                              \
  LINKWORK_FMI3_VALUES(X, Boolean)                                                                                             \
  LINKWORK_FMI3_VALUES(X, String)                                                                                              \
  X(fmi3Status, GetBinary, (fmi3Instance, const fmi3ValueReference[], std::size_t, std::size_t[], fmi3Binary[], std::size_t))  \
  X(fmi3Status, SetBinary,                                                                                                     \
    (fmi3Instance, const fmi3ValueReference[], std::size_t, const std::size_t[], const fmi3Binary[], std::size_t))             \
  X(fmi3Status, GetClock, (fmi3Instance, const fmi3ValueReference[], std::size_t, fmi3Clock[]))                                \
  X(fmi3Status, SetClock, (fmi3Instance, const fmi3ValueReference[], std::size_t, const fmi3Clock[]))                          \
  X(fmi3Status, GetNumberOfVariableDependencies, (fmi3Instance, fmi3ValueReference, std::size_t*))                             \
  X(fmi3Status, GetVariableDependencies,                                                                                       \
    (fmi3Instance, fmi3ValueReference, std::size_t[], fmi3ValueReference[], std::size_t[], fmi3DependencyKind[], std::size_t)) \
  X(fmi3Status, GetFMUState, (fmi3Instance, fmi3FMUState*))                                                                    \
  X(fmi3Status, SetFMUState, (fmi3Instance, fmi3FMUState))                                                                     \
  X(fmi3Status, FreeFMUState, (fmi3Instance, fmi3FMUState*))                                                                   \
  X(fmi3Status, SerializedFMUStateSize, (fmi3Instance, fmi3FMUState, std::size_t*))                                            \
  X(fmi3Status, SerializeFMUState, (fmi3Instance, fmi3FMUState, fmi3Byte[], std::size_t))                                      \
  X(fmi3Status, DeserializeFMUState, (fmi3Instance, const fmi3Byte[], std::size_t, fmi3FMUState*))                             \
  X(fmi3Status, GetDirectionalDerivative,                                                                                      \
    (fmi3Instance, const fmi3ValueReference[], std::size_t, const fmi3ValueReference[], std::size_t, const fmi3Float64[],      \
     std::size_t, fmi3Float64[], std::size_t))                                                                                 \
  X(fmi3Status, GetAdjointDerivative,                                                                                          \
    (fmi3Instance, const fmi3ValueReference[], std::size_t, const fmi3ValueReference[], std::size_t, const fmi3Float64[],      \
     std::size_t, fmi3Float64[], std::size_t))                                                                                 \
  X(fmi3Status, EnterConfigurationMode, (fmi3Instance))                                                                        \
  X(fmi3Status, ExitConfigurationMode, (fmi3Instance))                                                                         \
  X(fmi3Status, GetIntervalDecimal,                                                                                            \
    (fmi3Instance, const fmi3ValueReference[], std::size_t, fmi3Float64[], fmi3IntervalQualifier[]))                           \
  X(fmi3Status, GetIntervalFraction,                                                                                           \
    (fmi3Instance, const fmi3ValueReference[], std::size_t, fmi3UInt64[], fmi3UInt64[], fmi3IntervalQualifier[]))              \
  X(fmi3Status, GetShiftDecimal, (fmi3Instance, const fmi3ValueReference[], std::size_t, fmi3Float64[]))                       \
  X(fmi3Status, GetShiftFraction, (fmi3Instance, const fmi3ValueReference[], std::size_t, fmi3UInt64[], fmi3UInt64[]))         \
  X(fmi3Status, SetIntervalDecimal, (fmi3Instance, const fmi3ValueReference[], std::size_t, const fmi3Float64[]))              \
  X(fmi3Status, SetIntervalFraction,                                                                                           \
    (fmi3Instance, const fmi3ValueReference[], std::size_t, const fmi3UInt64[], const fmi3UInt64[]))                           \
  X(fmi3Status, SetShiftDecimal, (fmi3Instance, const fmi3ValueReference[], std::size_t, const fmi3Float64[]))                 \
  X(fmi3Status, SetShiftFraction,                                                                                              \
    (fmi3Instance, const fmi3ValueReference[], std::size_t, const fmi3UInt64[], const fmi3UInt64[]))                           \
  X(fmi3Status, EvaluateDiscreteStates, (fmi3Instance))                                                                        \
  X(fmi3Status, UpdateDiscreteStates,                                                                                          \
    (fmi3Instance, fmi3Boolean*, fmi3Boolean*, fmi3Boolean*, fmi3Boolean*, fmi3Boolean*, fmi3Float64*))                        \
  X(fmi3Status, EnterContinuousTimeMode, (fmi3Instance))                                                                       \
  X(fmi3Status, CompletedIntegratorStep, (fmi3Instance, fmi3Boolean, fmi3Boolean*, fmi3Boolean*))                              \
  X(fmi3Status, SetTime, (fmi3Instance, fmi3Float64))                                                                          \
  X(fmi3Status, SetContinuousStates, (fmi3Instance, const fmi3Float64[], std::size_t))                                         \
  X(fmi3Status, GetContinuousStateDerivatives, (fmi3Instance, fmi3Float64[], std::size_t))                                     \
  X(fmi3Status, GetEventIndicators, (fmi3Instance, fmi3Float64[], std::size_t))                                                \
  X(fmi3Status, GetContinuousStates, (fmi3Instance, fmi3Float64[], std::size_t))                                               \
  X(fmi3Status, GetNominalsOfContinuousStates, (fmi3Instance, fmi3Float64[], std::size_t))                                     \
  X(fmi3Status, GetNumberOfEventIndicators, (fmi3Instance, std::size_t*))                                                      \
  X(fmi3Status, GetNumberOfContinuousStates, (fmi3Instance, std::size_t*))                                                     \
  X(fmi3Status, EnterStepMode, (fmi3Instance))                                                                                 \
  X(fmi3Status, GetOutputDerivatives,                                                                                          \
    (fmi3Instance, const fmi3ValueReference[], std::size_t, const fmi3Int32[], fmi3Float64[], std::size_t))                    \
  X(fmi3Status, DoStep,                                                                                                        \
    (fmi3Instance, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Boolean*, fmi3Boolean*, fmi3Boolean*, fmi3Float64*))             \
  X(fmi3Status, ActivateModelPartition, (fmi3Instance, fmi3ValueReference, fmi3Float64))
