#include "linkwork/integrators/newmark_coefficients.h"

#include <fmt/format.h>

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
  double usual, least;  // of rho
  NewmarkCoefficients (*coefficients)(double rho);
};
constexpr std::array kMembers{Member{"newmark", 1.0, 0.0, newmark}, Member{"hht", 0.8, 0.5, hht},
                              Member{"generalized-alpha", 0.8, 0.0, generalized_alpha}};

}  // namespace

bool is_of_newmark_family(const std::string& integrator) {
  return std::ranges::find(kMembers, integrator, &Member::name) != kMembers.end();
}

NewmarkCoefficients newmark_coefficients(const Choice& integrator, const Options& options) {
  const Member& member = *std::ranges::find(kMembers, integrator.name, &Member::name);
  const auto given = options.find("rho");
  const double rho = given == options.end() ? member.usual : given->second;
  if (!(rho >= member.least && rho <= 1.0))
    throw InputError(integrator.place, fmt::format("option rho of {} is {:g}", member.name, rho),
                     fmt::format("{:g} to 1", member.least));
  return member.coefficients(rho);
}

}  // namespace linkwork
