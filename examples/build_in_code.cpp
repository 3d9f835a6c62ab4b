// A four-bar linkage built in code, stepped with an input that is set as it goes, and evaluated where it has come to.

#include <cstdio>
#include <exception>

#include "linkwork/linkwork.h"

namespace lw = linkwork;

static lw::Load drag(const lw::BodyTwist& twist) { return {-0.1 * twist.linear.norm() * twist.linear, Eigen::Vector3d::Zero()}; }

int main() {
  try {
    lw::Builder b("four-bar");
    auto crank = b.body("crank", lw::rod({0, 0, 0}, {1, 0, 0}, 1.0));
    auto coupler = b.body("coupler", lw::rod({0, 0, 0}, {4, 0, 0}, 1.0));
    auto rocker = b.body("rocker", lw::rod({0, 0, 0}, {2.5, 0, 0}, 1.0));
    b.revolute("theta", b.ground(), crank).position(1.57);
    b.revolute("alpha", crank.at(1, 0, 0), coupler);
    b.revolute("phi", b.ground().at(3, 0, 0), rocker).position(1.26);
    b.pin("cut", coupler.at(4, 0, 0), rocker.at(2.5, 0, 0));
    b.torque("theta", "u.motor").input("motor");
    b.force([](const lw::Kinematics& k, lw::Forces& f) { f.on("coupler", drag(k.twist("coupler"))); });
    const lw::Mechanism m = b.build();

    lw::Run run(m, {.integrator = "rk4", .step = 1e-3});
    while (run.t() < 1.0) {
      run.input("motor") = -5 * run.v("theta");
      run.step();
    }
    lw::Evaluation e = m.evaluate(run.state());
    std::printf("theta = %.6f rad, accelerating by %.6f rad/s^2\n", run.q("theta"), e.vdot("theta"));
    std::printf("the pin at alpha carries %.4f N\n", e.reaction("alpha").force.norm());
    std::printf("the middle of the coupler moves by %.4f m per rad of the crank\n",
                e.jacobian("coupler", {2, 0, 0}).col(0).head(3).norm());
    std::printf("nothing else need push: %.1e N m\n", m.inverse_dynamics(run.state(), e.vdot()).norm());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "build_in_code: %s\n", error.what());
    return 1;
  }
}
