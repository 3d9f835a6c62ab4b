#pragma once

#include <map>
#include <string>
#include <vector>

#include "linkwork/io/toml_value.h"

namespace linkwork {

/// A value given to a parameter from outside its file: by --set, or by the file that uses it as a module.
struct ParameterOverride {
  std::string name;
  std::string text;  // a number or an expression of the other parameters
  Place place;
};

/// The values of [parameters] (null: the file has none): numbers or expressions of one another, in any order.
std::map<std::string, double> parameter_values(const TomlValue* table, const std::string& file,
                                               const std::vector<ParameterOverride>& overrides);

}  // namespace linkwork
