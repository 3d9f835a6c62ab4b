#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

namespace {

/// Holonomic rows, second order:        b <- b - 2 alpha (A v - u) - beta^2 phi
/// Rows at velocity level, first order:  b <- b - gamma (A v - u)
/// The errors then die out like a damped oscillation, or like an exponential; [Wu1997] eq. 2.39-2.40.
class Baumgarte : public Stabilization {
 public:
  Baumgarte(const Model& model, double alpha, double beta, double gamma)
      : on_rate_(model.row_count()), on_phi_(model.row_count()) {
    for (int i = 0; i < model.row_count(); ++i) {
      const bool holonomic = model.rows[static_cast<std::size_t>(i)].holonomic;
      on_rate_[i] = holonomic ? 2.0 * alpha : gamma;
      on_phi_[i] = holonomic ? beta * beta : 0.0;
    }
  }
  void adjust(ConstraintTerms& terms) const override {
    terms.b -= on_rate_.cwiseProduct(terms.rate) + on_phi_.cwiseProduct(terms.phi);
  }

 private:
  VecX<double> on_rate_, on_phi_;
};

}  // namespace

CatalogEntry<Stabilization> baumgarte_stabilization() {
  return {{"baumgarte",
           "feeds the errors back into the accelerations, like springs and dampers",
           "Baumgarte1972",
           {{"alpha", 10.0, "damping of the error, 1/s", numbers_from(0.0)},
            {"beta", 10.0, "frequency of the error, 1/s", numbers_from(0.0)},
            {"gamma", 10.0, "decay of the error of rows at velocity level, 1/s", numbers_from(0.0)}}},
          [](const Model& model, const Options& options) {
            return std::make_unique<Baumgarte>(model, options.at("alpha"), options.at("beta"), options.at("gamma"));
          }};
}

}  // namespace linkwork
