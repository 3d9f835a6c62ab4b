#include "linkwork/integrators/shared_methods.h"

#include <algorithm>

#include "linkwork/integrators/catalog.h"
#include "linkwork/integrators/newmark_coefficients.h"

namespace linkwork {

namespace {

/// v <- v + h vdot, then q <- q (+) h v with the new v, part by part.
class SharedSemiImplicitEuler : public Integrator {
 public:
  explicit SharedSemiImplicitEuler(SharedEquation& equation) : equation_(equation), parts_(equation.parts()) {}

  int order() const override { return 1; }
  Status step(DifferentialEquation&, const Moment& from, const VecX<double>& rates, double h, Moment& to) override {
    to.y = from.y + h * rates;
    to.t = from.t + h;
    bool all = true;
    int first = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      to.y.segment(first, parts_[i].velocities) = from.y.segment(first, parts_[i].velocities);
      moved_ = h * to.y.segment(first + parts_[i].velocities, parts_[i].velocity_count);
      all = equation_.displace(i, moved_, to.y.segment(first, parts_[i].size)) && all;
      first += parts_[i].size;
    }
    if (equation_.largest(all ? 0.0 : 1.0) == 0.0) return {};
    return {"integrator 'semi-implicit-euler' needs modules that show which of their numbers are velocities; use rk4"};
  }

 private:
  SharedEquation& equation_;
  std::vector<SharedEquation::Part> parts_;
  VecX<double> moved_;
};

}  // namespace

const std::vector<std::string>& shared_integrators() {
  static const std::vector<std::string> names{"semi-implicit-euler", "newmark",   "hht",   "generalized-alpha",
                                              "cvode-adams",         "cvode-bdf", "arkode"};
  return names;
}

std::unique_ptr<Integrator> make_shared_integrator(const Settings& settings, SharedEquation& equation) {
  const std::string& name = settings.integrator.name;
  const std::vector<std::string>& names = shared_integrators();
  if (std::ranges::find(names, name) == names.end()) return nullptr;
  if (name == "semi-implicit-euler") return std::make_unique<SharedSemiImplicitEuler>(equation);
  const auto& entry = chosen_entry(integrators(), settings.integrator, "integrator");
  const Options options = complete_options(entry.info, settings.integrator);
  if (is_of_newmark_family(name)) return make_shared_newmark(settings, options, equation);
  return name == "arkode" ? make_shared_arkode(settings, options, equation) : make_shared_cvode(settings, options, equation);
}

}  // namespace linkwork
