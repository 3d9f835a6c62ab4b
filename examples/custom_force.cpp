// Two forces of our own on a slider-crank: the drag of the air on its rod, which only takes energy away, and a gas spring, which
// stores it and therefore has a potential. The balance of energy closes with both.

#include <cmath>
#include <cstdio>
#include <exception>

#include "linkwork/linkwork.h"

namespace lw = linkwork;

/// Quadratic drag on four strips of a rod of length 0.5 m.
static void drag(const lw::Kinematics& at, lw::Forces& forces) {
  for (const double x : {0.0625, 0.1875, 0.3125, 0.4375}) {
    const Eigen::Vector3d strip(x, 0, 0), v = at.velocity("rod", strip);
    forces.on("rod", {-0.02 * v.norm() * v, Eigen::Vector3d::Zero()}, strip);
  }
}

/// A gas that is pressed together adiabatically behind the piston: F = F0 (L / x)^1.4, V = F0 L (L / x)^0.4 / 0.4.
constexpr double kForce = 40.0, kLength = 1.0;
static double gap(const lw::Kinematics& at) { return kLength + 0.2 - at.q("slide"); }

int main() {
  try {
    lw::Builder b("slider-crank");
    const auto crank = b.body("crank", lw::rod({0, 0, 0}, {0.2, 0, 0}, 1.0));
    const auto rod = b.body("rod", lw::rod({0, 0, 0}, {0.5, 0, 0}, 0.5));
    const auto piston = b.body("piston", lw::box({0, 0, 0}, {0.1, 0.1, 0.1}, 0.8));
    b.revolute("shaft", b.ground(), crank).position(0.4).velocity(30.0).fixed();
    b.revolute("wrist", crank.at(0.2, 0, 0), rod).position(-0.6);
    b.prismatic("slide", b.ground(), piston).axis({1, 0, 0}).position(0.65);
    b.pin("gudgeon", rod.at(0.5, 0, 0), piston);
    b.force({"drag", drag});
    b.force({"gas",
             [](const lw::Kinematics& at, lw::Forces& f) { f.on_joint("slide", -kForce * std::pow(kLength / gap(at), 1.4)); },
             [](const lw::Kinematics& at) { return kForce * kLength * std::pow(kLength / gap(at), 0.4) / 0.4; }});

    const lw::Results results = lw::run(b.build(), {.end = 2.0, .step = 2e-4});
    std::printf("%s: the shaft turns at %.4f rad/s, energy is balanced to %.1e\n", results.summary.status.c_str(),
                results["v.shaft"].tail(1)[0], results.summary.energy_drift);
    return results.summary.energy_drift < 1e-8 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "custom_force: %s\n", error.what());
    return 1;
  }
}
