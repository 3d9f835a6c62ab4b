#include "linkwork/ensemble/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "linkwork/ensemble/csv_rows.h"
#include "linkwork/ensemble/sweep_files.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

fs::path model_file(const std::string& name) { return test::source_dir() / "models" / (name + ".toml"); }

EnsembleModel ensemble(const std::string& name, double end, std::vector<std::pair<std::string, std::string>> set = {}) {
  return {ModelOrigin{.file = model_file(name), .set = std::move(set)}, [end](Settings& settings) { settings.end = end; }};
}

SweepRequest four_bars() {
  SweepRequest request;
  request.grids = {"torque=-2:6:3"};
  request.samples = {"l1=normal(1,0.03)"};
  request.runs = 4;
  request.measures = {"swing=max(q.phi)-min(q.phi)", "final(energy.total)"};
  request.keep = {"q.theta", "energy.*"};
  request.threads = 2;
  return request;
}

/// So many that none of the threads is near the end after the first few.
SweepRequest many_four_bars() {
  SweepRequest request = four_bars();
  request.runs = 40;
  return request;
}

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {(std::istreambuf_iterator<char>(stream)), {}};
}

class SweepFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("linkwork-sweep-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path make(const std::string& name) const {
    fs::create_directories(folder_ / name);
    return folder_ / name;
  }
  /// All of it, or up to `stop` runs; with what `SweepFiles` leaves then.
  static void run(const Sweep& sweep, const fs::path& folder, long stop = 1000000, bool anew = false) {
    SweepFiles files(sweep, folder, "", "linkwork run", anew);
    const bool whole = sweep.run(
        files.done(), [&](const SweepRow& row) { files.write(row); }, [&] { return files.done() < stop; });
    if (whole)
      files.finish();
    else
      files.flush();
  }

  fs::path folder_;
};

TEST(Sweep, RunsAreThoseOfTheModelWithTheirParametersToTheLastBit) {
  for (const char* const name : {"four_bar", "four_bar_modules"}) {
    const Mechanism plain = load(model_file(name));
    SweepRequest request;
    request.grids = {"torque=-2:6:3"};
    const std::string column = std::string(name) == "four_bar" ? "q.theta" : "q.left.theta";
    request.measures = {"final(" + column + ")", "mean(energy.kinetic)"};
    request.keep = {column};
    request.threads = 3;
    request.lanes = false;
    const SweepResults all = sweep(plain, request, {.end = 0.3});
    ASSERT_EQ(all.rows.size(), 3U);
    EXPECT_TRUE(all.completed);
    for (const SweepRow& row : all.rows) {
      const Results alone = run(load(model_file(name), {{"torque", row.parameters[0]}}), {.end = 0.3});
      EXPECT_EQ(row.run.status, "done");
      EXPECT_EQ(row.run.measures[0], alone.at(alone.rows() - 1, column));
      EXPECT_EQ(row.run.energy_drift, alone.summary.energy_drift);
      EXPECT_EQ(row.run.constraint_error, alone.summary.position_error_max);
      ASSERT_EQ(row.run.kept.size(), 2 * alone.rows());
      for (std::size_t i = 0; i < alone.rows(); ++i) EXPECT_EQ(row.run.kept[2 * i + 1], alone.at(i, column));
    }
  }
}

TEST(Sweep, RunsInLanesAreThoseAloneToRounding) {
  for (const auto& [name, grid] : {std::pair("four_bar", "torque=-2:6:6"), std::pair("rover", "sprung=2000:3000:6")}) {
    SweepRequest request;
    request.grids = {grid};
    request.measures = {"max(energy.kinetic)", "final(energy.kinetic)"};
    request.keep = {"q", "v"};
    const Mechanism plain = load(model_file(name));
    const SweepResults together = sweep(plain, request, {.end = 0.1});
    request.lanes = false;
    const SweepResults alone = sweep(plain, request, {.end = 0.1});
    ASSERT_EQ(together.rows.size(), 6U);
    for (std::size_t i = 0; i < together.rows.size(); ++i) {
      const EnsembleRun &a = together.rows[i].run, &b = alone.rows[i].run;
      EXPECT_EQ(a.status, "done");
      ASSERT_EQ(a.kept.size(), b.kept.size());
      for (std::size_t k = 0; k < a.kept.size(); ++k) EXPECT_NEAR(a.kept[k], b.kept[k], 1e-11 * (1.0 + std::abs(b.kept[k])));
      for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(a.measures[k], b.measures[k], 1e-11 * (1.0 + std::abs(b.measures[k])));
    }
  }
}

TEST(Sweep, ARunThatFailsIsARowWithItsReason) {
  SweepRequest request;
  request.grids = {"l1=0.5:9:3"};  // from some length on it cannot be closed
  request.measures = {"final(q.theta)"};
  const SweepResults all = sweep(load(model_file("four_bar")), request, {.end = 0.1});
  ASSERT_EQ(all.rows.size(), 3U);
  EXPECT_TRUE(all.rows[0].run.done);
  EXPECT_FALSE(all.rows[2].run.done);
  EXPECT_THAT(all.rows[2].run.status, HasSubstr("cut"));
  EXPECT_TRUE(std::isnan(all.rows[2].run.measures[0]));
  EXPECT_TRUE(std::isnan(all.rows[2].run.energy_drift));
}

TEST(Sweep, RefusesWhatItCannotKnow) {
  const auto refusal = [](const std::function<void(SweepRequest&)>& change) -> std::string {
    SweepRequest request = four_bars();
    change(request);
    try {
      Sweep(ensemble("four_bar", 0.1, {{"l3", "2.4"}}), request);
    } catch (const InputError& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_EQ(refusal([](SweepRequest&) {}), "taken");
  EXPECT_THAT(refusal([](SweepRequest& r) { r.grids = {"torqe=0:1:2"}; }), HasSubstr("did you mean 'torque'?"));
  EXPECT_THAT(refusal([](SweepRequest& r) { r.grids = {"l3=0:1:2"}; }), HasSubstr("given by --set, too"));
  EXPECT_THAT(refusal([](SweepRequest& r) { r.keep = {"q.thta"}; }), HasSubstr("did you mean 'q.theta'?"));
  EXPECT_THAT(refusal([](SweepRequest& r) { r.measures = {"torque=max(q.theta)"}; }), HasSubstr("is taken"));
  EXPECT_THAT(refusal([](SweepRequest& r) { r.sampling = "sobl"; }), HasSubstr("did you mean 'sobol'?"));
  EXPECT_THAT(refusal([](SweepRequest& r) { r.samples.clear(); }), HasSubstr("nothing is sampled"));
}

TEST_F(SweepFolder, HasTheSameBytesForAnyNumberOfThreads) {
  std::vector<fs::path> folders;
  for (const int threads : {1, 2, 5}) {
    SweepRequest request = four_bars();
    request.threads = threads;
    request.trajectories = true;
    folders.push_back(make(std::to_string(threads)));
    run(Sweep(ensemble("four_bar", 0.2), request), folders.back());
  }
  for (const char* const file :
       {"sweep.csv", "sweep.json", "kept.csv", "runs/000003/trajectory.csv", "runs/000012/summary.json"}) {
    EXPECT_FALSE(read(folders[0] / file).empty()) << file;
    EXPECT_EQ(read(folders[0] / file), read(folders[1] / file)) << file;
    EXPECT_EQ(read(folders[0] / file), read(folders[2] / file)) << file;
  }
}

TEST_F(SweepFolder, GoesOnAfterItWasStoppedAndLeavesTheSameBytes) {
  const Sweep sweep(ensemble("four_bar", 0.1), many_four_bars());
  const fs::path whole = make("whole"), parts = make("parts");
  run(sweep, whole);
  run(sweep, parts, 3);
  const std::string before = read(parts / "sweep.csv");
  ASSERT_LT(before.size(), read(whole / "sweep.csv").size());
  ASSERT_EQ(before, read(whole / "sweep.csv").substr(0, before.size()));
  // A kill in the middle of writing.
  std::ofstream(parts / "sweep.csv", std::ios::app) << "5,1.2";
  std::ofstream(parts / "kept.csv", std::ios::app) << "9,0,1\n";
  {
    const SweepFiles files(sweep, parts, "", "linkwork run", false);
    EXPECT_GE(files.done(), 3);
  }
  run(sweep, parts);
  for (const char* const file : {"sweep.csv", "sweep.json", "kept.csv"})
    EXPECT_EQ(read(whole / file), read(parts / file)) << file;
}

TEST_F(SweepFolder, BeginsAnewIfItIsAnotherSweepOrIsTold) {
  const fs::path folder = make("a");
  const Sweep sweep(ensemble("four_bar", 0.1), many_four_bars());
  run(sweep, folder, 3);
  SweepRequest other = many_four_bars();
  other.seed = 2;
  const Sweep another(ensemble("four_bar", 0.1), other);
  EXPECT_EQ(SweepFiles(another, folder, "", "", false).done(), 0);
  run(sweep, folder, 3, true);
  EXPECT_GT(SweepFiles(sweep, folder, "", "", false).done(), 0);
  EXPECT_EQ(SweepFiles(sweep, folder, "--end 2", "", false).done(), 0);
  run(sweep, folder, 3, true);
  EXPECT_EQ(SweepFiles(sweep, folder, "", "", true).done(), 0);
}

TEST_F(SweepFolder, SummaryHasTheStatisticsOfItsRows) {
  const fs::path folder = make("a");
  run(Sweep(ensemble("four_bar", 0.1), four_bars()), folder);
  std::vector<double> swings;
  read_csv_rows(folder / "sweep.csv", [&](const std::vector<std::string>& fields, std::uint64_t) {
    if (fields[0] != "run") swings.push_back(csv_number(fields[4]));
    return true;
  });
  ASSERT_EQ(swings.size(), 12U);
  const auto json = nlohmann::json::parse(read(folder / "sweep.json"));
  EXPECT_EQ(json["runs"], 12);
  EXPECT_EQ(json["failed"], 0);
  const auto& swing = json["measures"][0];
  double mean = 0.0, squares = 0.0;
  for (const double each : swings) mean += each / 12.0;
  for (const double each : swings) squares += (each - mean) * (each - mean) / 11.0;
  EXPECT_NEAR(swing["mean"], mean, 1e-14);
  EXPECT_NEAR(swing["deviation"], std::sqrt(squares), 1e-14);
  EXPECT_EQ(swing["min"], std::ranges::min(swings));
  EXPECT_EQ(swing["max"], swings[swing["max_run"].get<std::size_t>() - 1]);
}

TEST(CsvRows, AreThoseOfRfc4180) {
  const fs::path file = fs::temp_directory_path() / "linkwork-csv-rows.csv";
  std::ofstream(file, std::ios::binary) << "a,b\n1,\"x, \"\"y\"\"\"\n\"\"\"z\",\n3,left out";
  std::vector<std::vector<std::string>> rows;
  read_csv_rows(file, [&](const std::vector<std::string>& fields, std::uint64_t) {
    rows.push_back(fields);
    return true;
  });
  fs::remove(file);
  EXPECT_THAT(rows, ElementsAre(ElementsAre("a", "b"), ElementsAre("1", "x, \"y\""), ElementsAre("\"z", "")));
}

}  // namespace
}  // namespace linkwork
