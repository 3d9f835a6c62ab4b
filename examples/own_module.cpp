// A four-bar linkage of two modules: the left chain is a model file, the right one a class of our own (rocker_module.h). Prints
// where the crank is after a second, and how well the pin between them holds.
//
//   own_module models/four_bar_modules.toml

#include <cstdio>
#include <exception>

#include "examples/rocker_module.h"
#include "linkwork/linkwork.h"

namespace lw = linkwork;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: own_module models/four_bar_modules.toml\n");
    return 2;
  }
  try {
    const lw::Mechanism four_bar = lw::load(argv[1]).with_module("right", [] {
      return std::make_unique<RockerModule>("right.phi", RockerModule::Rod{3.0, 2.5, 1.0, 9.81, 1.2648595635335869607});
    });
    const lw::Results results = lw::run(four_bar, {.end = 1.0});
    for (const char* column : {"q.left.theta", "q.right.phi"}) std::printf("%s = %.12f\n", column, results[column].tail(1)[0]);
    std::printf("the pin holds to %.1e m\n", results.summary.modules->sticky);
    return results.summary.completed ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "own_module: %s\n", error.what());
    return 1;
  }
}
