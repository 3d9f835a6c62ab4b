#include "linkwork/dynamics/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

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
  const auto shown = [this](const std::string& who, const BoundExpression& law, double value) {
    const Place& place = law.expression.place();
    const std::string beyond = law.expression.describe_beyond({slots_.data(), law.slots.size()});
    return fmt::format("{}, \"{}\"{}, is {}{}", who, law.expression.text(),
                       place.line > 0 ? fmt::format(" in {}:{}", place.file, place.line) : "", value,
                       beyond.empty() ? "" : ": " + beyond);
  };
  if (blocks() != nullptr && !blocks()->trouble().empty()) return blocks()->trouble();
  std::string found;
  for_each_law(*model_, [&](const BoundExpression& law, const std::string& who) {
    const double value = found.empty() ? evaluate(law) : 0.0;
    if (!std::isfinite(value)) found = shown(who, law, value);
  });
  if (!found.empty()) return found;
  if (custom_forces_ && !custom_forces_->not_finite().empty()) return custom_forces_->not_finite();
  for (int row = 0; row < terms_.rows(); ++row)
    if (const double b = terms_.b[row]; !std::isfinite(terms_.phi[row]) || !std::isfinite(terms_.rate[row]) || !std::isfinite(b))
      return fmt::format("row '{}' of the constraints has an error of {}, a rate of {} and asks for an acceleration of {}",
                         model_->rows[static_cast<std::size_t>(row)].name, terms_.phi[row], terms_.rate[row], b);
  for (int v = 0; v < tree().nv; ++v)
    if (const double x = state_->v[v]; !std::isfinite(x) || !std::isfinite(work_.tau[v]))
      return fmt::format("'{}' has the velocity {} and the force {}", model_->velocity_name(v), x, work_.tau[v]);
  return {};
}

}  // namespace linkwork
