#include "linkwork/analysis/variation.h"

#include <fmt/format.h>

#include <cmath>

namespace linkwork {

Variation vary(const std::string& name, double value, bool of_start, const MakeSpec& make, const Model& like) {
  constexpr double kRelative = 2e-4;
  Variation variation{name, value, kRelative * (value == 0.0 ? 1.0 : std::abs(value)), of_start};
  for (std::size_t k = 0; k < variation.models.size(); ++k) {
    auto model = std::make_shared<const Model>(build_model(make(value + Variation::kPlaces[k] * variation.step)));
    if (model->tree.nq != like.tree.nq || model->tree.nv != like.tree.nv || model->row_count() != like.row_count() ||
        model->states.size() != like.states.size())
      throw InputError({}, fmt::format("with another '{}' the model has other bodies or constraints", name),
                       "a parameter that can change by a little");
    variation.models[k] = std::move(model);
  }
  return variation;
}

}  // namespace linkwork
