#include "linkwork/integrators/tableau.h"

namespace linkwork {

namespace {

Tableau dormand_prince(std::string name, std::string summary, bool error_control) {
  Tableau t{std::move(name), std::move(summary), "Dormand1980", 5, {}, {}, {}, {}, {}};
  t.c = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0};
  t.a = {{},
         {1.0 / 5},
         {3.0 / 40, 9.0 / 40},
         {44.0 / 45, -56.0 / 15, 32.0 / 9},
         {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
         {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656}};
  t.b = {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84};
  if (!error_control) return t;
  t.error = {71.0 / 57600, 0.0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
  // The fourth-order continuous extension of [Shampine1986].
  t.dense = {{1.0, -8048581381.0 / 2820520608, 8663915743.0 / 2820520608, -12715105075.0 / 11282082432},
             {0.0, 0.0, 0.0, 0.0},
             {0.0, 131558114200.0 / 32700410799, -68118460800.0 / 10900136933, 87487479700.0 / 32700410799},
             {0.0, -1754552775.0 / 470086768, 14199869525.0 / 1410260304, -10690763975.0 / 1880347072},
             {0.0, 127303824393.0 / 49829197408, -318862633887.0 / 49829197408, 701980252875.0 / 199316789632},
             {0.0, -282668133.0 / 205662961, 2019193451.0 / 616988883, -1453857185.0 / 822651844},
             {0.0, 40617522.0 / 29380423, -110615467.0 / 29380423, 69997945.0 / 29380423}};
  return t;
}

}  // namespace

std::span<const Tableau> tableaus() {
  static const std::vector<Tableau> all{
      {"rk4",
       "classical Runge-Kutta, fixed step, order 4",
       "Kutta1901",
       4,
       {{}, {0.5}, {0.0, 0.5}, {0.0, 0.0, 1.0}},
       {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
       {0.0, 0.5, 0.5, 1.0},
       {},
       {}},
      dormand_prince("dopri45", "Dormand-Prince 5(4), adaptive step by rtol and atol", true),
      dormand_prince("ode5", "Dormand-Prince, fixed step, order 5", false),
      {"rk2", "midpoint rule, fixed step, order 2", "Runge1895", 2, {{}, {0.5}}, {0.0, 1.0}, {0.0, 0.5}, {}, {}},
      {"euler", "forward Euler, fixed step, order 1", "", 1, {{}}, {1.0}, {0.0}, {}, {}},
  };
  return all;
}

}  // namespace linkwork
