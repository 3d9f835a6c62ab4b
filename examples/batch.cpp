// How far does the rocker of a four-bar swing, for nine torques on its crank? Runs at the same time: batch models/four_bar.toml

#include <cstdio>
#include <exception>
#include <future>
#include <vector>

#include "linkwork/linkwork.h"

namespace lw = linkwork;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: batch models/four_bar.toml\n");
    return 2;
  }
  try {
    const auto largest_angle = [&](double torque) {
      const lw::Results results = lw::run(lw::load(argv[1], {{"torque", torque}}), {.end = 2.0});
      return results["q.phi"].maxCoeff();
    };
    std::vector<std::pair<double, std::future<double>>> runs;
    for (int i = 0; i <= 8; ++i) runs.emplace_back(i, std::async(std::launch::async, largest_angle, static_cast<double>(i)));
    for (auto& [torque, angle] : runs) std::printf("%3g N m: phi reaches %.6f rad\n", torque, angle.get());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "batch: %s\n", error.what());
    return 1;
  }
}
