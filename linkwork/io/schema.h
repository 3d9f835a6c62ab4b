#pragma once

#include <string>

namespace linkwork {

/// The JSON Schema (draft 2020-12) of model files, for editors: they complete and check TOML with it.
std::string model_schema_json();

}  // namespace linkwork
