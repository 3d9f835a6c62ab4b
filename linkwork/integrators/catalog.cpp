#include "linkwork/integrators/catalog.h"

namespace linkwork {

Catalog<Integrator> integrators() {
  static const std::vector<CatalogEntry<Integrator>> entries = [] {
    std::vector<CatalogEntry<Integrator>> all = runge_kutta_methods();
    all.push_back(semi_implicit_euler());
    return all;
  }();
  return entries;
}

}  // namespace linkwork
