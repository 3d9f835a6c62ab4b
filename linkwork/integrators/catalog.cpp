#include "linkwork/integrators/catalog.h"

namespace linkwork {

Catalog<Integrator> integrators() {
  static const std::vector<CatalogEntry<Integrator>> entries = [] {
    std::vector<CatalogEntry<Integrator>> all = runge_kutta_methods();
    all.push_back(semi_implicit_euler());
    for (auto& entry : newmark_family()) all.push_back(std::move(entry));
    for (auto& entry : cvode_methods()) all.push_back(std::move(entry));
    all.push_back(arkode_method());
    all.push_back(ida_method());
    return all;
  }();
  return entries;
}

}  // namespace linkwork
