#include "linkwork/integrators/catalog.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// v <- v + h vdot, then q <- q (+) h v with the new v.
class SemiImplicitEuler : public Integrator {
 public:
  int order() const override { return 1; }
  Status step(EquationsOfMotion& equations, const State& from, const Derivative& rates, double h, State& to) override {
    to.v = from.v + h * rates.vdot;
    to.q = from.q;
    moved_ = h * to.v;
    displace(equations.model().tree, to.q.data(), moved_.data());
    to.work = from.work + h * rates.power;
    to.z = from.z + h * rates.zdot;
    to.t = from.t + h;
    return {};
  }

 private:
  VecX<double> moved_;
};

}  // namespace

CatalogEntry<Integrator> semi_implicit_euler() {
  return {{"semi-implicit-euler", "velocities first, then positions with the new ones; fixed step, order 1", "Hairer2006", {}},
          [](const Model&, const Options&) { return std::make_unique<SemiImplicitEuler>(); }};
}

}  // namespace linkwork
