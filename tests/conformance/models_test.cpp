#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "linkwork/simulation/check.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

struct Expected {
  std::string model;
  std::vector<std::pair<std::string, std::string>> set;
  int bodies, coordinates, rows, rank, dof;
};

/// What the comments at the top of the files promise.
TEST(Models, HaveTheFreedomTheyPromise) {
  for (const Expected& e :
       {Expected{"rover", {}, 31, 36, 12, 12, 24}, Expected{"backbone", {}, 40, 40, 20, 20, 20},
        Expected{"backbone", {{"n", "3"}}, 12, 12, 6, 6, 6}, Expected{"closed_chain", {}, 8, 8, 3, 3, 5},
        Expected{"closed_chain", {{"n", "5"}}, 5, 5, 3, 3, 2}, Expected{"closed_chain", {{"n", "21"}}, 21, 21, 3, 3, 18},
        Expected{"excavator", {}, 12, 12, 8, 8, 4}, Expected{"loader", {}, 20, 20, 15, 15, 5},
        Expected{"loader", {{"n", "1"}}, 11, 11, 9, 9, 2}, Expected{"quarter_car", {}, 7, 10, 7, 7, 3},
        Expected{"delta", {}, 16, 16, 25, 13, 3}, Expected{"picker", {}, 28, 28, 33, 21, 7},
        Expected{"picker", {{"n", "3"}}, 25, 25, 31, 19, 6}, Expected{"car", {}, 14, 27, 16, 16, 11}}) {
    const CheckReport report = check(build_model(test::library_spec(e.model, e.set)));
    EXPECT_EQ(report.bodies, e.bodies) << e.model;
    EXPECT_EQ(report.coordinates, e.coordinates) << e.model;
    EXPECT_EQ(report.rows, e.rows) << e.model;
    EXPECT_EQ(report.rank, e.rank) << e.model;
    EXPECT_EQ(report.dof, e.dof) << e.model;
  }
}

TEST(Models, AreAllListedInTheDocumentation) {
  std::ifstream file(test::source_dir() / "docs/models.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const std::string& name : test::library_models())
    EXPECT_NE(text.str().find("`" + name + "`"), std::string::npos) << name << " is missing in docs/models.md";
}

}  // namespace
}  // namespace linkwork
