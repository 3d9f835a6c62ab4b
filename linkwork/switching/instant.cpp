#include "linkwork/switching/instant.h"

#include <algorithm>

namespace linkwork {

Instant::Instant(const Model& its_model, EquationsOfMotion& its_equations, bool is_exact)
    : model(its_model),
      equations(its_equations),
      exact(is_exact),
      modes(its_model),
      lambda(VecX<double>::Zero(its_model.row_count())) {}

void Instant::set_rows(int first, int count, bool on) {
  for (int r = first; r < first + count; ++r) modes.rows[static_cast<std::size_t>(r)] = on;
}

void Instant::take_modes() {
  equations.set_modes(modes);
  system().update(*state);
}

Status Instant::evaluate() {
  equations.set_modes(modes);
  if (state->z.size() > 0) equations.start(*state);
  Status status = equations.evaluate(*state, *rates);
  equations.complete();
  const VecX<double>& force = equations.solution().lambda;
  if (force.size() > 0) largest_force = std::max(largest_force, force.cwiseAbs().maxCoeff());
  return status;
}

void Instant::keep(EventRecord record) {
  constexpr std::size_t kMost = 100'000;
  record.t = state->t;
  record.dof = -1;
  if (!quiet && records.size() < kMost) records.push_back(std::move(record));
}

void Instant::warn_once(const std::string& about, const std::string& text) {
  if (std::ranges::none_of(warnings, [&](const std::string& known) { return known.find(about) != std::string::npos; }))
    warnings.push_back(text);
}

}  // namespace linkwork
