#pragma once

#include "linkwork/io/toml_value.h"
#include "linkwork/model/spec.h"

namespace linkwork {

/// What the readers of robot files say of a mechanism, in the terms of model files, with the places it comes from. The rest of a
/// Spec (events, modules, data, ...) they have no use for.
Document document_of(const Spec& spec);

}  // namespace linkwork
