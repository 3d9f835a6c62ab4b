#pragma once

#include <map>
#include <string>

#include "linkwork/io/model_file.h"
#include "linkwork/model/spec.h"

namespace linkwork {

/// The values of [parameters] of a model that was read from a text, with what --set gave them.
std::map<std::string, double> parameters_of(const Spec& spec, const ReadOptions& options);

}  // namespace linkwork
