#include "linkwork/switching/instant.h"

#include <algorithm>
#include <cmath>

namespace linkwork {

Instant::Instant(const Model& its_model, EquationsOfMotion& its_equations, bool is_exact)
    : model(its_model),
      equations(its_equations),
      exact(is_exact),
      modes(its_model),
      lambda(VecX<double>::Zero(its_model.row_count())) {
  double mass = 0.0;
  for (const Body& body : model.bodies) mass += body.mass;
  usual_effort = mass * std::pow(model.units.length * usual_rate(), 2);
}

double Instant::fit(int row) const {
  const double tolerance = model.settings.constraint_tolerance * model.units.tolerance[row];
  return std::max(1e-8 * model.units.row[row], 100.0 * tolerance);
}

void Instant::set_rows(int first, int count, bool on) {
  for (int r = first; r < first + count; ++r) modes.rows[static_cast<std::size_t>(r)] = on;
}

void Instant::take_modes() {
  equations.set_modes(modes);
  system().update(*state);
}

Status Instant::evaluate() {
  equations.set_modes(modes);
  if (state->z.size() > 0) {  // what the formulation integrates starts anew; the user's states go on
    const VecX<double> own = state->z.head(static_cast<Eigen::Index>(model.states.size()));
    equations.start(*state);
    state->z.head(own.size()) = own;
  }
  Status status = equations.evaluate(*state, *rates);
  equations.complete();
  const VecX<double>& force = equations.solution().lambda;
  if (force.size() > 0) largest_effort = std::max(largest_effort, force.cwiseProduct(model.units.row).cwiseAbs().maxCoeff());
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
