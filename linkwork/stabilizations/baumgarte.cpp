#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

namespace {

/// b <- b - 2 alpha (A v - u) - beta^2 phi
class Baumgarte : public Stabilization {
 public:
  Baumgarte(double alpha, double beta) : alpha_(alpha), beta_(beta) {}
  void adjust(ConstraintTerms& terms) const override { terms.b -= 2.0 * alpha_ * terms.rate + beta_ * beta_ * terms.phi; }

 private:
  double alpha_, beta_;
};

}  // namespace

CatalogEntry<Stabilization> baumgarte_stabilization() {
  return {
      {"baumgarte",
       "feeds the errors back into the accelerations, like springs and dampers",
       "Baumgarte1972",
       {{"alpha", 10.0, "damping of the error, 1/s"}, {"beta", 10.0, "frequency of the error, 1/s"}}},
      [](const Model&, const Options& options) { return std::make_unique<Baumgarte>(options.at("alpha"), options.at("beta")); }};
}

}  // namespace linkwork
