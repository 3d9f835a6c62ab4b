#include "linkwork/integrators/newmark_coefficients.h"

#include <algorithm>
#include <array>

namespace linkwork {

namespace {

NewmarkCoefficients with_newmark_weights(double am, double af, double gamma) {
  return {am, af, 0.25 * (gamma + 0.5) * (gamma + 0.5), gamma};
}

NewmarkCoefficients newmark(double rho) { return with_newmark_weights(0.0, 0.0, 0.5 + (1.0 - rho) / (1.0 + rho)); }
NewmarkCoefficients hht(double rho) {
  const double af = (1.0 - rho) / (1.0 + rho);
  return with_newmark_weights(0.0, af, 0.5 + af);
}
NewmarkCoefficients generalized_alpha(double rho) {
  const double am = (2.0 * rho - 1.0) / (rho + 1.0), af = rho / (rho + 1.0);
  return with_newmark_weights(am, af, 0.5 + af - am);
}

struct Member {
  std::string_view name;
  NewmarkCoefficients (*coefficients)(double rho);
};
constexpr std::array kMembers{Member{"newmark", newmark}, Member{"hht", hht}, Member{"generalized-alpha", generalized_alpha}};

}  // namespace

bool is_of_newmark_family(const std::string& integrator) {
  return std::ranges::find(kMembers, integrator, &Member::name) != kMembers.end();
}

NewmarkCoefficients newmark_coefficients(const std::string& integrator, const Options& options) {
  return std::ranges::find(kMembers, integrator, &Member::name)->coefficients(options.at("rho"));
}

}  // namespace linkwork
