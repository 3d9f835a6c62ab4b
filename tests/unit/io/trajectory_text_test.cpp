#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "linkwork/io/trajectory_file.h"

namespace linkwork {
namespace {

std::string printed(double value) {
  std::array<char, 64> text{};
  const int size = std::snprintf(text.data(), text.size(), "%.17g", value);
  return {text.data(), static_cast<std::size_t>(size)};
}

/// Files are compared byte by byte, with those of earlier versions too.
TEST(TrajectoryText, HasNumbersAsPrintfWritesThemWith17Digits) {
  std::vector<double> values{0.0,
                             -0.0,
                             1.0,
                             0.1,
                             -0.01,
                             1e5,
                             1e16,
                             1e17,
                             123456789012345678.0,
                             9.9999999999999999e22,
                             1e-4,
                             1e-5,
                             5e-324,
                             0.3,
                             2.0 / 3.0,
                             1e300,
                             -1e-300,
                             std::numeric_limits<double>::max(),
                             std::numeric_limits<double>::min(),
                             std::nan(""),
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()};
  std::mt19937_64 random(5);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t bits = random();
    double value = 0.0;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isnan(value)) continue;  // have many bits, and one name
    values.push_back(value);
    values.push_back(std::ldexp(static_cast<double>(bits >> 11U), -60 + static_cast<int>(bits % 40)));
    values.push_back(0.001 * static_cast<double>(bits % 100'000));
    values.push_back(static_cast<double>(bits >> 11U) * 0.25);  // half way between two of 17 digits, often
    values.push_back(-std::pow(10.0, static_cast<double>(bits % 141) - 80.0));
  }
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "linkwork_trajectory_text.csv";
  {
    TrajectoryFile file(path, std::vector<std::string>{"t", "x"});
    for (const double value : values) file.write(std::array{1.5, value});
    file.close();
  }
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  EXPECT_EQ(line, "t,x");
  for (const double value : values) {
    ASSERT_TRUE(std::getline(stream, line));
    ASSERT_EQ(line, "1.5," + printed(value));
  }
  EXPECT_FALSE(std::getline(stream, line));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace linkwork
