#include <cmath>
#include <cstdio>
#include <map>
#include <span>
#include <string>

#include "linkwork/model/expression.h"

// Uses the installed library as a stranger would: its headers, its target, nothing else.
int main() {
  const std::map<std::string, double> parameters{{"amplitude", 3.0}};
  const auto torque = linkwork::Expression::parse("amplitude*sin(t)", parameters, linkwork::Variables::kTime, {});
  const double t = 0.5;
  const double value = torque.evaluate<double>(std::span(&t, 1));
  std::printf("amplitude*sin(t) at t = %g is %g\n", t, value);
  return std::abs(value - 3.0 * std::sin(t)) < 1e-12 ? 0 : 1;
}
