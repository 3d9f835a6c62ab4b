// Loads a model, runs it with another torque, and draws two of its columns: load_and_plot MODEL.toml OUT.svg

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>

#include "linkwork/linkwork.h"

namespace lw = linkwork;

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: load_and_plot MODEL.toml OUT.svg\n");
    return 2;
  }
  try {
    const lw::Mechanism four_bar = lw::load(argv[1], {{"torque", 2.5}});
    const lw::Results results = lw::run(four_bar, {.integrator = "dopri45", .end = 5.0, .rtol = 1e-9});
    std::printf("%s, energy drift %.1e\n", results.summary.status.c_str(), results.summary.energy_drift);

    std::ofstream svg(argv[2]);
    svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 500 200' fill='none'>\n";
    for (const auto& [column, colour] : {std::pair{"q.phi", "navy"}, {"force.theta.x", "crimson"}}) {
      const auto y = results[column];
      const double low = y.minCoeff(), high = y.maxCoeff();
      svg << "<polyline stroke='" << colour << "' points='";
      for (Eigen::Index i = 0; i < y.size(); ++i)
        svg << 500.0 * results["t"][i] / 5.0 << ',' << 190.0 - 180.0 * (y[i] - low) / (high - low) << ' ';
      svg << "'/>\n";
    }
    svg << "</svg>\n";
    return svg.good() && results.summary.completed ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "load_and_plot: %s\n", error.what());
    return 1;
  }
}
