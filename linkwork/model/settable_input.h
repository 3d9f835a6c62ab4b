#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "linkwork/model/input_error.h"

namespace linkwork {

/// The position of an input among Model::inputs or Spec::inputs. Throws InputError if there is none of that name, or if it comes
/// from recorded data.
template <class Inputs>
std::size_t settable_input(const Inputs& inputs, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& input : inputs)
    if (!input.is_copy) known.push_back(input.name);
  const auto found = std::ranges::find_if(inputs, [&](const auto& input) { return input.name == name; });
  if (found == inputs.end()) throw unknown_name({}, "input", name, known);
  if (found->data) throw InputError({}, fmt::format("input '{}' comes from recorded data", name), "an input with a value");
  return static_cast<std::size_t>(found - inputs.begin());
}

}  // namespace linkwork
