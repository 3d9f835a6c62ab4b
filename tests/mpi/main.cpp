// Run by mpirun: every rank runs all tests, in the same order. Tests exchange messages, so they go on after a failure (EXPECT_,
// not ASSERT_) and decide by data that all ranks have.
#include <gtest/gtest.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>

#include "tests/mpi/world.h"

namespace linkwork::test {

namespace {
MpiWorld* the_world = nullptr;
}

Transport& world() { return the_world->transport(); }

namespace {

/// What happens to the others when the last rank fails: they would wait forever.
void fail_on_last_rank() {
  if (world().rank() == world().size() - 1) {
    std::fputs("this rank fails, as it was asked to\n", stderr);
    throw std::runtime_error("failed");
  }
  world().wait_for_all();
}

int run(int argc, char** argv) {
  MpiWorld created;
  the_world = &created;
  if (argc > 1 && std::string_view(argv[1]) == "--fail") fail_on_last_rank();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace

}  // namespace linkwork::test

int main(int argc, char** argv) {
  try {
    return linkwork::test::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
