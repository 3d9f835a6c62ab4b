#include "linkwork/dynamics/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "linkwork/dynamics/not_finite.h"
#include "linkwork/dynamics/running_blocks.h"
#include "linkwork/tree/crba.h"
#include "linkwork/tree/energy.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

System::System(const Model& model) : EvaluatedForces(model) {}

std::vector<double> System::memory() const {
  std::vector<double> memory{turns_.counted ? 1.0 : 0.0, turns_.time, turns_.since, turns_.seen};
  for (const std::vector<double>* part : {&turns_.angle, &turns_.rate, &loads_, &branches_})
    memory.insert(memory.end(), part->begin(), part->end());
  for (const std::optional<double>& input : inputs_) memory.push_back(input.value_or(std::numeric_limits<double>::quiet_NaN()));
  return memory;
}

void System::set_memory(const std::vector<double>& memory) {
  kept_ = Kept::kNothing;
  turns_.counted = memory[0] != 0.0, turns_.time = memory[1], turns_.since = memory[2], turns_.seen = memory[3];
  auto from = memory.begin() + 4;
  for (std::vector<double>* part : {&turns_.angle, &turns_.rate, &loads_, &branches_}) {
    std::copy_n(from, part->size(), part->begin());
    from += static_cast<std::ptrdiff_t>(part->size());
  }
  for (std::optional<double>& input : inputs_) {
    input = std::isnan(*from) ? std::nullopt : std::optional(*from);
    ++from;
  }
}

const MatX<double>& System::mass_matrix() {
  linkwork::mass_matrix(tree(), work_, M_);
  return M_;
}

const VecX<double>& System::bias() {
  bias_forces(tree(), work_, c_);
  return c_;
}

double System::kinetic_energy() const { return linkwork::kinetic_energy(tree(), work_); }

std::string System::describe_not_finite() {
  if (blocks() != nullptr && !blocks()->trouble().empty()) return blocks()->trouble();
  std::string found = not_finite_state(*model_, *state_);
  for_each_law(*model_, [&](const BoundExpression& law, const std::string& who) {
    const int force = force_of(*model_, law);
    if (!found.empty() || (force >= 0 && !is_in_force(force))) return;
    const double value = evaluate(law);
    if (std::isfinite(value)) return;
    const Place& place = law.expression.place();
    const std::string name = force < 0 ? "" : model_->forces[static_cast<std::size_t>(force)].name;
    const std::string beyond = law.expression.describe_beyond({slots_.data(), law.slots.size()});
    found = fmt::format("{}{}, \"{}\"{}, is {}{}", name.empty() ? "" : fmt::format("force '{}': ", name), who,
                        law.expression.text(), place.line > 0 ? fmt::format(" in {}:{}", place.file, place.line) : "", value,
                        beyond.empty() ? "" : ": " + beyond);
  });
  if (found.empty() && custom_forces_) found = custom_forces_->not_finite();
  return found.empty() ? not_finite_effect(*this) : found;
}

}  // namespace linkwork
