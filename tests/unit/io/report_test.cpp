#include "linkwork/io/report.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "linkwork/io/model_file.h"
#include "linkwork/io/scene.h"
#include "linkwork/io/trajectory_file.h"
#include "linkwork/io/trajectory_reader.h"
#include "linkwork/model/input_error.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kPage = "<html>@LINKWORK_CONNECT@|@LINKWORK_DATA@</html>";

ThinnedRows rows_of(std::size_t count, std::size_t most_rows) {
  ThinnedRows rows(2, most_rows);
  for (std::size_t i = 0; i < count; ++i) rows.add(std::vector<double>{static_cast<double>(i), -0.1 * static_cast<double>(i)});
  return rows;
}

std::string decoded(const std::string& text) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, held = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6U | static_cast<unsigned>(digits.find(c));
    held += 6;
    if (held >= 8) bytes += static_cast<char>(bits >> (held -= 8) & 255U);
  }
  return bytes;
}

template <class Number>
Number number_at(const std::string& bytes, std::size_t offset) {
  Number value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Json data_of(const std::string& html) {
  const std::size_t from = html.find('|') + 1;
  return Json::parse(html.substr(from, html.rfind("</html>") - from));
}

TEST(ThinnedRows, KeepEveryRowWhileTheyAreFew) {
  const ThinnedRows rows = rows_of(1000, 1000);
  EXPECT_EQ(rows.size(), 1000u);
  EXPECT_EQ(rows.stride(), 1u);
  EXPECT_EQ(rows.at(999, 0), 999.0);
}

TEST(ThinnedRows, StayFewAndEvenForAMillion) {
  const ThinnedRows rows = rows_of(1000000, 20000);
  EXPECT_EQ(rows.all(), 1000000u);
  EXPECT_LE(rows.size(), 20001u);
  EXPECT_GE(rows.size(), 10000u);
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) ASSERT_EQ(rows.at(i, 0), static_cast<double>(i * rows.stride()));
  EXPECT_EQ(rows.at(0, 0), 0.0);
  EXPECT_EQ(rows.at(rows.size() - 1, 0), 999999.0);
}

TEST(ThinnedRows, AreFewerIfThereAreManyColumns) {
  ThinnedRows rows(1000, 20000, 2000000);
  const std::vector<double> row(1000);
  for (int i = 0; i < 5000; ++i) rows.add(row);
  EXPECT_LE(rows.size(), 2001u);
}

TEST(Report, HoldsTheNumbersOfTheRun) {
  for (const ReportPrecision precision : {ReportPrecision::kFloat32, ReportPrecision::kFloat64}) {
    const ReportRun run{"a", R"({"columns":["t","x"]})", "", rows_of(5, 1000)};
    const Json data = data_of(report_html(kPage, {&run, 1}, precision));
    const std::string bytes = decoded(data["runs"][0]["data"].get<std::string>());
    const bool wide = precision == ReportPrecision::kFloat64;
    ASSERT_EQ(bytes.size(), wide ? 80u : 60u);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(number_at<double>(bytes, 8 * i), run.rows.at(i, 0));
      if (wide)
        EXPECT_EQ(number_at<double>(bytes, 40 + 8 * i), run.rows.at(i, 1));
      else
        EXPECT_EQ(number_at<float>(bytes, 40 + 4 * i), static_cast<float>(run.rows.at(i, 1)));
    }
    EXPECT_TRUE(data["runs"][0]["summary"].is_null());
  }
}

TEST(Report, LeavesNoMarkupInItsData) {
  const ReportRun run{"</script><b>", R"({"columns":["t","</script>"],"name":"<!--"})", R"({"model":"<img>"})", rows_of(1, 1000)};
  const std::string html = report_html(kPage, {&run, 1});
  const std::string data = html.substr(html.find('|'), html.rfind("</html>") - html.find('|'));
  EXPECT_EQ(data.find('<'), std::string::npos);
  EXPECT_EQ(data_of(html)["runs"][0]["label"], "</script><b>");
  EXPECT_EQ(data_of(html)["runs"][0]["summary"]["model"], "<img>");
}

TEST(Report, MayAskForRowsOnlyWhenFollowing) {
  const ReportRun run{"a", R"({"columns":["t","x"]})", "", rows_of(1, 1000)};
  EXPECT_TRUE(report_html(kPage, {&run, 1}).starts_with("<html>'none'|"));
  EXPECT_TRUE(report_html(kPage, {&run, 1}, ReportPrecision::kFloat32, true).starts_with("<html>'self'|"));
}

TEST(Scene, PlacesJointsOnTheirBodies) {
  const Spec spec = read_model_file(test::source_dir() / "models/four_bar.toml");
  const Model model = build_model(spec);
  const std::vector<std::string> columns{"t", "q.theta", "q.alpha", "q.phi"};
  const Json scene = Json::parse(scene_json(spec, model, columns));
  ASSERT_EQ(scene["bodies"].size(), model.bodies.size());
  for (std::size_t j = 0; j < model.joints.size(); ++j)
    for (const auto& [side, frame] : {std::pair{"parent", spec.joints[j].parent}, std::pair{"child", spec.joints[j].child}}) {
      const Json& written = scene["joints"][j][side];
      EXPECT_EQ(scene["bodies"][written["body"].get<std::size_t>()]["name"], frame.body);
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(written["p"][static_cast<std::size_t>(k)].get<double>(), frame.at[k], 1e-14);
    }
}

class RunFolder : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

  const fs::path folder_ = fs::temp_directory_path() /
                           ("linkwork_report_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(RunFolder, TrajectoryIsReadAsItWasWritten) {
  const std::vector<std::string> columns{"t", "q.a \"b\", c", "line\nbreak"};
  const std::vector<double> row{0.1, -1.0 / 3.0, 1e-300};
  TrajectoryFile file(folder_ / "trajectory.csv", columns);
  for (int i = 0; i < 3; ++i) file.write(row);
  file.close();
  int count = 0;
  const auto check = [&](std::span<const double> read) {
    ++count;
    EXPECT_TRUE(std::equal(read.begin(), read.end(), row.begin(), row.end()));
  };
  EXPECT_EQ(read_trajectory(folder_ / "trajectory.csv", check), columns);
  EXPECT_EQ(count, 3);
}

TEST_F(RunFolder, ARowCutShortIsLeftOut) {
  write("scene.json", R"({"columns":["t","x"]})");
  write("trajectory.csv", "t,x\n0,1\n0.5,2\n1,");
  const ReportRun run = read_run(folder_);
  EXPECT_EQ(run.rows.size(), 2u);
  EXPECT_TRUE(run.summary.empty());
}

TEST_F(RunFolder, WhatIsNotARunIsRefused) {
  EXPECT_THROW(read_run(folder_), InputError);
  write("scene.json", "{");
  EXPECT_THROW(read_run(folder_), InputError);
  write("scene.json", R"({"columns":["t","x"]})");
  EXPECT_THROW(read_run(folder_), InputError);
  write("trajectory.csv", "t,x\n0,1\nzero,one\n");
  EXPECT_THROW(read_run(folder_), InputError);
  write("trajectory.csv", "t,x,y\n0,1,2\n");
  EXPECT_THROW(read_run(folder_), InputError);
}

}  // namespace
}  // namespace linkwork
