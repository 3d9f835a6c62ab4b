#pragma once

#include <span>
#include <string>
#include <vector>

namespace linkwork {

/// An explicit Runge-Kutta method as data.
struct Tableau {
  std::string name;
  std::string summary;
  std::string reference;
  int order;
  std::vector<std::vector<double>> a;  // row i: weights of stages 0..i-1 in stage i
  std::vector<double> b;
  std::vector<double> c;
  std::vector<double> error;  // weights of the error estimate; empty: none. May have one more stage: the rates at the new state
  std::vector<std::vector<double>> dense;  // by stage: coefficients of theta, theta^2, ... ; empty: cubic Hermite
};

/// Every method there is.
std::span<const Tableau> tableaus();

}  // namespace linkwork
