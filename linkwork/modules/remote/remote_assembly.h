#pragma once

#include <functional>
#include <memory>
#include <string>

#include "linkwork/modules/assembly_plan.h"
#include "linkwork/modules/remote/network.h"
#include "linkwork/transport/transport.h"

namespace linkwork {

/// Lets the plan make its modules on other hosts, and finds out what has to be known of the whole without having it: its size,
/// and what of it can be drawn. All ranks call it; the first one asks the hosts. Throws InputError, on all ranks alike, if one of
/// them refuses. `dial`: null for the network, with the certificates that the model or the environment gives.
void use_remote_modules(AssemblyPlan& plan, const Spec& spec, Transport& transport, DialHost dial = nullptr);

}  // namespace linkwork
