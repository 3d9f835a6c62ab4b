#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "linkwork/model/model.h"

namespace linkwork {

/// A number that a model is made with, and the models with some more and some less of it: what derivatives by parameters are
/// differences of. Only constants of the model differ in them, so that differences of fourth order are good to some 1e-12.
struct Variation {
  std::string name;
  double value = 0.0, step = 0.0;
  bool of_start = false;                                 // it changes nothing but where a run begins
  std::array<std::shared_ptr<const Model>, 4> models{};  // at value + step * kPlaces
  static constexpr std::array<double, 4> kPlaces{-2.0, -1.0, 1.0, 2.0};

  /// The derivative of what a function gives for each of them.
  template <class At>
  auto difference(At at) const {
    const auto far_below = at(0), below = at(1), above = at(2), far_above = at(3);
    return ((8.0 * (above - below) - (far_above - far_below)) / (12.0 * step)).eval();
  }
};

/// Makes a model with a value of a number in place of the model's own.
using MakeSpec = std::function<Spec(double value)>;

/// Throws InputError if it has another structure with other values.
Variation vary(const std::string& name, double value, bool of_start, const MakeSpec& make, const Model& like);

}  // namespace linkwork
