#pragma once

#include <optional>
#include <string>

#include "linkwork/io/start_state.h"

namespace linkwork {

/// The state that a run begins with, by its options `start_from` and `start_at`; none is given without them. Throws InputError.
StartState chosen_start(const std::optional<std::string>& from, const std::optional<std::string>& at, const Spec& spec);

}  // namespace linkwork
