// A pendulum that a motor holds up: a PD controller in C++ that is called 1000 times per second of the motion, and the same law
// as an expression of the model, which acts without a pause between samples.

#include <cmath>
#include <cstdio>
#include <exception>

#include "linkwork/linkwork.h"

namespace lw = linkwork;

static lw::Builder arm(const char* torque) {
  lw::Builder b("arm");
  const auto link = b.body("link", lw::rod({0, 0, 0}, {0.6, 0, 0}, 2.0));
  b.revolute("shoulder", b.ground(), link).position(-0.5).damping(0.02);
  b.torque("shoulder", torque);
  return b;
}

int main() {
  try {
    lw::Builder sampled = arm("u.motor");
    sampled.input("motor");
    lw::Run run(sampled.build(), {.step = 1e-3});
    run.controller(1e-3, [](lw::Run& r) { r.input("motor") = 80.0 * (1.0 - r.q("shoulder")) - 12.0 * r.v("shoulder"); });
    run.advance_to(3.0);

    lw::Run continuous(arm("80*(1 - q.shoulder) - 12*v.shoulder").build(), {.step = 1e-3});
    continuous.advance_to(3.0);

    std::printf("after 3 s: %.6f rad sampled, %.6f rad continuous\n", run.q("shoulder"), continuous.q("shoulder"));
    std::printf("the motor holds the weight, %.4f N m, and so stays short of 1 rad\n", static_cast<double>(run.input("motor")));
    return std::abs(run.q("shoulder") - continuous.q("shoulder")) < 1e-4 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pd_controller: %s\n", error.what());
    return 1;
  }
}
