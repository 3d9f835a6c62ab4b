#pragma once

#include "bench/peers/mechanism.h"
#include "linkwork/dynamics/state.h"
#include "linkwork/model/model.h"

namespace linkwork::bench {

/// The mechanism of a model file in the numbers every engine takes. Throws std::runtime_error, with the name, if the mechanism
/// has something the comparison does not know.
Mechanism translate(const Spec& spec, const Model& model);

PeerState peer_state(const State& state);
State linkwork_state(const PeerState& state);

}  // namespace linkwork::bench
