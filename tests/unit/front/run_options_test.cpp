#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "apps/linkwork/settings_options.h"
#include "linkwork/linkwork.h"
#include "tests/support/mechanisms.h"

namespace lw = linkwork;

namespace {

std::filesystem::path four_bar_file() { return lw::test::source_dir() / "models/four_bar.toml"; }

/// Every setting, with a value that is not the usual one.
lw::RunOptions all_settings() {
  lw::RunOptions options;
  const std::vector<std::pair<const char*, lw::OptionValue>> values{{"end", 0.125},
                                                                    {"step", 1.0 / 3.0},
                                                                    {"max_step", 0.1},
                                                                    {"rtol", 1e-7},
                                                                    {"atol", 1e-11},
                                                                    {"every", 0.0123},
                                                                    {"glue", "none"},
                                                                    {"integrator", "dopri45"},
                                                                    {"coordinates", "TA"},
                                                                    {"formulation", "lagrange"},
                                                                    {"stabilization", "baumgarte:alpha=5,beta=7"},
                                                                    {"columns", std::vector<std::string>{"q", "energy.*"}}};
  for (const auto& [name, value] : values) lw::set_option(options, name, value);
  return options;
}

}  // namespace

TEST(RunOptions, TheLibraryAndTheCommandLineHaveTheSameSettings) {
  const auto texts = lw::setting_texts(all_settings());
  lw::cli::SettingsOptions program;
  program.set_texts(texts);
  const auto taken = program.texts();
  EXPECT_EQ(std::set(taken.begin(), taken.end()), std::set(texts.begin(), texts.end()));
  lw::Settings by_library, by_program;
  lw::apply(all_settings(), by_library);
  program.apply_to(by_program);
  EXPECT_EQ(by_library.end, by_program.end);
  EXPECT_EQ(by_library.step, by_program.step);
  EXPECT_EQ(by_library.max_step, by_program.max_step);
  EXPECT_EQ(by_library.rtol, by_program.rtol);
  EXPECT_EQ(by_library.atol, by_program.atol);
  EXPECT_EQ(by_library.output_every, by_program.output_every);
  EXPECT_EQ(by_library.columns, by_program.columns);
  EXPECT_EQ(by_library.stabilization.name, by_program.stabilization.name);
  EXPECT_EQ(by_library.formulation.name, by_program.formulation.name);
  EXPECT_EQ(by_library.glue.name, by_program.glue.name);
}

TEST(RunOptions, UnknownNamesAndWrongKindsOfValuesAreTold) {
  lw::RunOptions options;
  EXPECT_THROW(lw::set_option(options, "stpe", 1.0), lw::InputError);
  EXPECT_THROW(lw::set_option(options, "step", "long"), lw::InputError);
  EXPECT_THROW(lw::set_option(options, "integrator", 4.0), lw::InputError);
  EXPECT_THROW(lw::set_option(options, "threads", 1.5), lw::InputError);
  EXPECT_THROW(lw::set_option(options, "columns", std::vector<std::string>{}), lw::InputError);
}

TEST(RunFiles, AreThoseThatTheReportIsMadeOf) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "linkwork_run_files";
  std::filesystem::remove_all(folder);
  const lw::Results results = lw::run(lw::load(four_bar_file()), {.end = 0.2});
  results.save(folder);
  for (const char* const file : {"trajectory.csv", "summary.json", "scene.json"})
    EXPECT_TRUE(std::filesystem::exists(folder / file)) << file;
  const lw::Results later = lw::run(lw::load(four_bar_file()), {.end = 0.1, .start_from = folder.string()});
  EXPECT_NEAR(later["q.theta"][0], results["q.theta"].tail(1)[0], 1e-12);
  std::filesystem::remove_all(folder);
}

TEST(Runs, GoOnAfterAnInterruption) {
  lw::Run run(lw::load(four_bar_file()));
  int steps = 0;
  run.on_step([&] { return ++steps != 5; });
  EXPECT_FALSE(run.step(10));
  EXPECT_TRUE(run.was_interrupted());
  EXPECT_NEAR(run.t(), 5e-3, 1e-15);
  EXPECT_TRUE(run.step(5));
  EXPECT_FALSE(run.was_interrupted());
  lw::Run other(lw::load(four_bar_file()));
  other.step(10);
  EXPECT_EQ(run.state().q, other.state().q);
}

TEST(Kinematics, IsARunOfTheDrives) {
  const auto driven = lw::load(lw::test::source_dir() / "models/four_bar_driven.toml");
  const lw::Results motion = lw::kinematics(driven, {.end = 0.1});
  const lw::Results run = lw::run(driven, {.end = 0.1});
  EXPECT_TRUE(motion.summary.completed);
  EXPECT_NEAR((motion["q.theta4"] - run["q.theta4"]).cwiseAbs().maxCoeff(), 0.0, 1e-6);
}
