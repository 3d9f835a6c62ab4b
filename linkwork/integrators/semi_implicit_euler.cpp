#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// v <- v + h vdot, then q <- q (+) h v with the new v.
class SemiImplicitEuler : public Integrator {
 public:
  int order() const override { return 1; }
  Status step(DifferentialEquation& equations, const Moment& from, const VecX<double>& rates, double h, Moment& to) override {
    const Tree& tree = equations.equations_of_motion()->model().tree;
    to.y = from.y + h * rates;
    to.y.head(tree.nq) = from.y.head(tree.nq);
    moved_ = h * to.y.segment(tree.nq, tree.nv);
    displace(tree, to.y.data(), moved_.data());
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
