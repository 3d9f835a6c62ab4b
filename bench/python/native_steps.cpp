// The time that 1000 steps take in C++, s, for overhead.py: native_steps MODEL.

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "linkwork/linkwork.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  linkwork::Run run(linkwork::load(argv[1], {{"torque", 0}}), {.step = 1e-3});
  run.step(1000);
  double best = 1e9;
  for (int i = 0; i < 100; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run.step(1000);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::printf("%.9f\n", best);
}
