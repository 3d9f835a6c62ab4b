#include "linkwork/io/trajectory_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "linkwork/io/trajectory_file.h"
#include "linkwork/io/trajectory_reader.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TrajectoryFormats : public testing::Test {
 protected:
  TrajectoryFormats()
      : folder_(fs::path(testing::TempDir()) /
                ("linkwork_formats_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~TrajectoryFormats() override { fs::remove_all(folder_); }

  /// Writes rows, converts them, and gives what is read back.
  std::vector<std::vector<double>> round_trip(TrajectoryFormat format, const std::vector<std::string>& names,
                                              const std::vector<std::vector<double>>& rows) {
    TrajectoryFile file(folder_ / "trajectory.csv", names);
    for (const auto& row : rows) file.write(row);
    file.close();
    std::vector<ColumnInfo> infos;
    for (const std::string& name : names) infos.push_back({{name, "m"}, name != "lambda.b"});
    convert_trajectory(folder_ / "trajectory.csv", format, infos, false);
    EXPECT_FALSE(fs::exists(folder_ / "trajectory.csv"));
    EXPECT_EQ(find_trajectory(folder_), folder_ / trajectory_file_name(format));
    std::vector<std::vector<double>> read;
    EXPECT_EQ(read_trajectory(find_trajectory(folder_),
                              [&](std::span<const double> row) { read.emplace_back(row.begin(), row.end()); }),
              names);
    fs::remove(find_trajectory(folder_));
    return read;
  }

  std::vector<TrajectoryFormat> formats() const {
    if (!has_hdf5()) return {TrajectoryFormat::kMat};
    return {TrajectoryFormat::kHdf5, TrajectoryFormat::kMat};
  }

  fs::path folder_;
};

TEST_F(TrajectoryFormats, KeepNamesAndNumbersToTheLastBit) {
  std::mt19937 random(3);
  const std::vector<std::string> names{"t",        "q.theta",   "q.module.theta", "q.universal.0",        "v.a b,\"c\"",
                                       "lambda.b", "force.b.x", "p.größe.x",      "p.\xf0\x9f\x94\xa7.y", "s.a/b"};
  for (const std::size_t rows : {0U, 1U, 2U, 1023U, 1024U, 1025U, 5000U})
    for (const TrajectoryFormat format : formats()) {
      std::vector<std::vector<double>> table(rows);
      for (auto& row : table)
        for (std::size_t c = 0; c < names.size(); ++c)
          row.push_back(std::ldexp(static_cast<double>(random()), static_cast<int>(c) - 40));
      if (rows > 1) table[1][2] = std::numeric_limits<double>::infinity(), table[0][3] = 5e-324, table[0][4] = -0.0;
      EXPECT_EQ(round_trip(format, names, table), table) << rows;
    }
}

/// Names that a struct of MATLAB could not have, or that would be two things at once.
TEST_F(TrajectoryFormats, GiveEveryColumnAPlaceInMatlab) {
  const std::vector<std::string> names{
      "t",  "q.a", "q.a.b",     "q.a_.b", "q.a b", "q.a-b", "q." + std::string(100, 'x'), "q." + std::string(100, 'x') + "y",
      "q.", "q..", "columns.x", "q.1"};
  std::vector<double> row;
  for (std::size_t c = 0; c < names.size(); ++c) row.push_back(static_cast<double>(c));
  EXPECT_EQ(round_trip(TrajectoryFormat::kMat, names, {row, row}), (std::vector<std::vector<double>>{row, row}));
}

TEST_F(TrajectoryFormats, AreRefusedInWordsWhereTheyAreNoneOrCannotHoldThem) {
  EXPECT_THROW(parse_trajectory_format("hdf", {}), InputError);
  EXPECT_EQ(parse_trajectory_format("mat", {}), TrajectoryFormat::kMat);
  const std::vector<ColumnInfo> columns{{{"t", "s"}}, {{"q.a", "m"}}, {{"q.b", "m"}}};
  EXPECT_NO_THROW(check_trajectory_size(TrajectoryFormat::kMat, columns, 1e8));
  EXPECT_THROW(check_trajectory_size(TrajectoryFormat::kMat, columns, 1.5e8), InputError);
  EXPECT_NO_THROW(check_trajectory_size(TrajectoryFormat::kHdf5, columns, 1.5e8));
}

TEST_F(TrajectoryFormats, ThatAreDamagedAreRefusedAndNeverCrash) {
  for (const TrajectoryFormat format : formats()) {
    round_trip(format, {"t", "q.theta", "force.b.x"}, {{0, 1, 2}, {3, 4, 5}});
    const fs::path file = folder_ / trajectory_file_name(format);
    // Once more, this time to be kept.
    TrajectoryFile csv(folder_ / "trajectory.csv", std::vector<std::string>{"t", "q.theta"});
    csv.write(std::vector<double>{0, 1});
    csv.close();
    convert_trajectory(folder_ / "trajectory.csv", format, std::vector<ColumnInfo>{{{"t", "s"}}, {{"q.theta", "rad"}}}, false);
    std::ifstream stream(file, std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(stream)), {});
    std::mt19937 random(5);
    int refused = 0;
    for (int k = 0; k < 200; ++k) {
      std::string bytes = whole;
      if (k % 2 == 0)
        bytes.resize(random() % bytes.size());
      else
        for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
      std::ofstream(file, std::ios::binary) << bytes;
      try {
        read_trajectory(file, [](std::span<const double>) {});
      } catch (const InputError&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 50);
    fs::remove(file);
  }
}

}  // namespace
}  // namespace linkwork
