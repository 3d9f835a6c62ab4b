#pragma once

#include <memory>

#include "linkwork/model/closures/coordinate_closure.h"
#include "linkwork/model/forces/force_kind.h"
#include "linkwork/model/sensors/sensor_kind.h"

namespace linkwork {

struct RemoteModules;

/// The kinds that a model is read and built with. Who has kinds of their own adds them to a copy of the standard ones and hands
/// that in: ReadOptions::kinds, Spec::kinds.
struct Kinds {
  std::vector<CoordinateClosureKind> closures;  // on joint coordinates
  std::vector<ForceKind> forces;
  std::vector<SensorKind> sensors;
  std::shared_ptr<const RemoteModules> remote =
      nullptr;  // modules of the model that are computed elsewhere; null: there are none
};

// A list per folder: closures/, forces/, sensors/.
std::vector<CoordinateClosureKind> coordinate_closure_kinds();
std::vector<ForceKind> force_kinds();
std::vector<SensorKind> sensor_kinds();

}  // namespace linkwork
