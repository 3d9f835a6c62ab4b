#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "linkwork/import/robot_file.h"
#include "linkwork/model/model.h"
#include "tests/support/recorded_run.h"
#include "tests/unit/import/parallelogram.h"

namespace linkwork {
namespace {

using test::Parallelogram;
using test::RecordedRun;

std::vector<Spec> written_four_ways(const Parallelogram& p) {
  ReadOptions with_loops;
  with_loops.load = [](const std::filesystem::path&) { return Parallelogram::loops_yaml(); };
  return {read_robot_text(p.urdf_plus(), "p.urdf"), read_robot_text(p.urdf_frames(), "p.urdf", {}, with_loops),
          read_robot_text(p.sdf(), "p.sdf"), read_robot_text(p.mjcf(), "p.xml")};
}

TEST(ImportedParallelogram, SwingsWithTheSamePeriodInWhateverFormatItIsWritten) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 3; ++trial) {
    const Parallelogram p = Parallelogram::random(random);
    std::vector<std::vector<double>> motions;
    for (Spec& spec : written_four_ways(p)) {
      spec.settings.end = p.period();
      spec.settings.output_every = p.period() / 20.0;
      spec.settings.integrator = {"dopri45", {}, {}};
      spec.settings.rtol = 1e-12, spec.settings.atol = 1e-13;
      const RecordedRun run(spec);
      ASSERT_TRUE(run.summary.completed) << spec.place.file;
      EXPECT_LT(run.summary.position_error_max, 1e-10);
      std::vector<double> motion;
      const std::size_t a = run.column("q.a"), d = run.column("q.d");
      for (const auto& row : run.rows) {
        motion.push_back(row[a]);
        EXPECT_NEAR(row[a], row[d], 1e-9) << "the cranks stay parallel";
      }
      // Back where it began, at rest: what is left of the velocity tells how late or early.
      EXPECT_NEAR(run.last("v.a") / run.last("a.a") / p.period(), 0.0, 1e-6) << spec.place.file;
      EXPECT_GT(std::abs(motion[motion.size() / 2] - motion.front()), p.tilt) << "it swings";
      motions.push_back(std::move(motion));
    }
    for (std::size_t i = 1; i < motions.size(); ++i)
      for (std::size_t k = 0; k < motions[0].size(); ++k) EXPECT_NEAR(motions[i][k], motions[0][k], 1e-9) << i << " at " << k;
  }
}

TEST(ImportedParallelogram, HasOneFreedomHoweverItsLoopIsClosed) {
  const Parallelogram p;
  for (const Spec& spec : written_four_ways(p)) {
    const Model model = build_model(spec);
    EXPECT_EQ(model.tree.nv, 3) << spec.place.file;
    EXPECT_EQ(spec.bodies.size(), 3U);
  }
}

TEST(ImportedParallelogram, IsTheSameModelToTheLastBitOnceItIsWrittenAndReadAgain) {
  std::mt19937 random(11);
  const Parallelogram p = Parallelogram::random(random);
  for (const auto& [text, name] : {std::pair{p.urdf_plus(), "p.urdf"}, {p.sdf(), "p.sdf"}, {p.mjcf(), "p.xml"}}) {
    Spec direct = read_robot_text(text, name);
    Spec again = read_model_text(model_text(import_robot(text, name), name), "p.toml");
    for (Spec* spec : {&direct, &again}) spec->settings.end = 0.5;
    const RecordedRun one(direct), other(again);
    EXPECT_EQ(one.columns, other.columns);
    EXPECT_EQ(one.rows, other.rows) << name;
  }
}

}  // namespace
}  // namespace linkwork
