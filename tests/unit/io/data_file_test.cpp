#include "linkwork/io/data_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "linkwork/io/model_file.h"

namespace linkwork {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ColumnRequest kFirst{"", {"m.toml", 3, 8}, 0}, kSecond{"", {"m.toml", 3, 8}, 1};

TEST(DataFile, GivesTheColumnsThatAreAskedFor) {
  const std::string text = "\xEF\xBB\xBF# recorded on a Monday\n t , \"z\",\tw\r\n0, 1.5,9\n\n 0.1 ,+2e-1,8\r\n# pause\n0.2,-3,7";
  const DataColumns data = read_columns(text, "road.csv", kFirst, kSecond);
  EXPECT_THAT(data.x, ElementsAre(0.0, 0.1, 0.2));
  EXPECT_THAT(data.y, ElementsAre(1.5, 0.2, -3.0));
  EXPECT_THAT(read_columns("a;t;b\n1;2;3\n", "r", {"t", {}}, {"a", {}}).x, ElementsAre(2.0));
  EXPECT_THAT(read_columns("a\tt\n1\t2\n", "r", {"t", {}}, {"a", {}}).y, ElementsAre(1.0));
}

std::string message(const std::string& text, const ColumnRequest& x = kFirst, const ColumnRequest& y = kSecond) {
  try {
    read_columns(text, "road.csv", x, y);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(DataFile, SaysWhereAndWhatIsWrong) {
  EXPECT_THAT(message(""), HasSubstr("road.csv:1:1: the file is empty"));
  EXPECT_THAT(message("t,z\n"), HasSubstr("road.csv: the file has no rows of numbers"));
  EXPECT_THAT(message("0,1\n1,2\n"), HasSubstr("road.csv:1:1: the first line has numbers only"));
  EXPECT_THAT(message("t,z\n0,1\n1,nan\n"), HasSubstr("road.csv:3:3: 'z' is nan; expected a finite number"));
  EXPECT_THAT(message("t,z\n0,1\n1,x\n"), HasSubstr("road.csv:3:3: 'z' is 'x'; expected a number"));
  EXPECT_THAT(message("t,z\n0,1\n1\n"), HasSubstr("road.csv:3:1: the line ends before 'z'"));
  EXPECT_THAT(message("t,z\n0,1\n0.2,1\n0.1,1\n"), HasSubstr("road.csv:4:1: 't' is 0.1 after 0.2"));
  EXPECT_THAT(message("t,z\n0,1\n0,1\n"), HasSubstr("'t' is 0 after 0; expected values that increase"));
  EXPECT_THAT(message("t,z\n0,1\n", kFirst, {"height", {"m.toml", 4, 10}}),
              HasSubstr("m.toml:4:10: unknown column of 'road.csv' 'height'; expected one of: t, z"));
  EXPECT_THAT(message("t\n0\n"), HasSubstr("m.toml:3:8: 'road.csv' has 1 columns"));
}

TEST(DataFile, MayHaveAMillionRows) {
  std::string text = "t,z\n";
  for (int i = 0; i < 1'000'000; ++i) text += std::to_string(1e-3 * i) + "," + std::to_string(i % 7) + "\n";
  const DataColumns data = read_columns(text, "long.csv", kFirst, kSecond);
  ASSERT_EQ(data.x.size(), 1'000'000U);
  EXPECT_EQ(data.y[13], 6.0);
  EXPECT_DOUBLE_EQ(data.x.back(), 999.999);
}

constexpr std::string_view kTurningArm = R"(linkwork = 1
[[body]]
name = "arm"
solid = { shape = "rod", to = [1, 0, 0], mass = 2 }
[[joint]]
name = "arm"
type = "revolute"
parent = { body = "ground" }
child = { body = "arm" }
)";

std::string message_of_model(const std::string& tables) {
  ReadOptions options;
  options.load = [](const std::filesystem::path& file) -> std::string {
    if (file.filename() == "road.csv") return "t,z\n0,1\n1,3\n";
    throw InputError({file.string(), 0, 0}, "it does not exist");
  };
  try {
    read_model_text(std::string(kTurningArm) + tables, "m.toml", options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(InputTables, AreCheckedAtTheirPlaces) {
  const std::string input = "[[input]]\nname = \"u\"\n";
  EXPECT_EQ(message_of_model(input + "file = \"road.csv\"\n"), "accepted");
  EXPECT_EQ(message_of_model(input + "file = \"road.csv\"\ntime = \"t\"\ncolumn = \"z\"\ninterpolation = \"cubic\"\n"),
            "accepted");
  EXPECT_THAT(message_of_model(input + "file = \"rode.csv\"\n"),
              HasSubstr("m.toml:12:8: the data file 'rode.csv': it does not exist"));
  EXPECT_THAT(message_of_model(input + "file = \"road.csv\"\ncolumn = \"q\"\n"), HasSubstr("m.toml:13:10: unknown column"));
  EXPECT_THAT(message_of_model(input + "file = \"road.csv\"\nvalue = 1\n"), HasSubstr("beside 'value'"));
  EXPECT_THAT(message_of_model(input + "column = \"z\"\n"), HasSubstr("'column' is given without 'file'"));
  EXPECT_THAT(message_of_model(input + "value = \"q.arm\"\n"), HasSubstr("'q.arm' cannot be used here"));
  EXPECT_THAT(message_of_model(input + input), HasSubstr("the name 'u' is taken by the input"));
  EXPECT_THAT(message_of_model(input + "file = \"road.csv\"\ninterpolation = \"quintic\"\n"),
              HasSubstr("one of: linear, cubic, hold"));
}

TEST(Tables, AreCheckedAtTheirPlaces) {
  const std::string table = "[[table]]\nname = \"f\"\n";
  EXPECT_EQ(message_of_model(table + "x = [0, 1]\ny = [0, 1]\n"), "accepted");
  EXPECT_EQ(message_of_model(table + "file = \"road.csv\"\ncolumns = [\"z\", \"t\"]\n"), "accepted");
  EXPECT_THAT(message_of_model(table + "x = [0, 1]\n"), HasSubstr("the table has no 'y'"));
  EXPECT_THAT(message_of_model(table + "x = [0, 1]\ny = [1]\n"), HasSubstr("'y' is an array of 1; expected 2 numbers"));
  EXPECT_THAT(message_of_model(table + "x = [0, 1, 1]\ny = [1, 2, 3]\n"), HasSubstr("m.toml:12:12: 'x' is 1 after 1"));
  EXPECT_THAT(message_of_model(table + "x = [0]\ny = [1]\n"), HasSubstr("there is only one point"));
  EXPECT_THAT(message_of_model("[[table]]\nname = \"sin\"\nx = [0, 1]\ny = [0, 1]\n"), HasSubstr("'name' is 'sin'"));
  const std::string torque = "[[force]]\ntype = \"torque\"\njoint = \"arm\"\nvalue = ";
  EXPECT_THAT(message_of_model(table + "x = [0, 1]\ny = [0, 1]\n" + torque + "\"f(1, 2)\"\n"),
              HasSubstr("'f' is given 2 arguments; expected f(x)"));
  EXPECT_THAT(message_of_model(table + "x = [0, 1]\ny = [0, 1]\n" + torque + "\"2*f\"\n"),
              HasSubstr("'f' is a table; expected f(x)"));
  EXPECT_THAT(message_of_model(table + "x = [0, 1]\ny = [0, 1]\n" + torque + "\"g(t)\"\n"), HasSubstr("unknown function 'g'"));
}

}  // namespace
}  // namespace linkwork
