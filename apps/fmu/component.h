#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "linkwork/fmu/fmu_instance.h"
#include "linkwork/simulation/simulation_error.h"

namespace linkwork::fmu {

using Mode = FmuInstance::Mode;
using Kind = FmuInstance::Kind;

/// What both interfaces make of a failure: `kDiscard` for a point that cannot be evaluated, from which the importer can step
/// back.
enum class Failure { kDiscard, kError };

/// An instance, with the way to tell its importer.
struct Component {
  std::unique_ptr<FmuInstance> instance;
  std::string name;
  bool logging = false;
  std::function<void(Failure, const char* category, const std::string& message)> tell;  // of failures, always
  std::function<void(const char* category, const std::string& message)> mention;        // of what happens, if logging is on

  void mention_events(const std::string& what, double t) const {
    if (logging && !what.empty()) mention("logEvents", "at t = " + std::to_string(t) + " s: " + what);
  }
};

/// Calls what may throw. Nothing gets past it.
template <class Status, class Call>
Status guarded(void* pointer, Status ok, Status discard, Status error, Call call) noexcept {
  auto* const component = static_cast<Component*>(pointer);
  if (component == nullptr) return error;
  Failure failure = Failure::kError;
  std::string message;
  try {
    try {
      if constexpr (std::is_same_v<decltype(call(*component)), Status>)
        return call(*component);
      else
        call(*component);
      return ok;
    } catch (const SimulationError& trouble) {
      failure = Failure::kDiscard;
      message = trouble.what();
    } catch (const std::exception& trouble) {
      message = trouble.what();
    } catch (...) {
      message = "an unknown error";
    }
    component->tell(failure, failure == Failure::kDiscard ? "logStatusDiscard" : "logStatusError", message);
  } catch (...) {  // not even told
  }
  return failure == Failure::kDiscard ? discard : error;
}

inline std::vector<std::size_t> references(const unsigned* list, std::size_t count) { return {list, list + count}; }

template <class Values>
void copy(const Values& from, double* to, std::size_t count) {
  if (static_cast<std::size_t>(std::ssize(from)) != count) throw std::logic_error("the array has another length than the FMU's");
  for (std::size_t k = 0; k < count; ++k) to[k] = from[static_cast<decltype(std::ssize(from))>(k)];
}

}  // namespace linkwork::fmu
