#include "linkwork/io/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "linkwork/io/json_text.h"
#include "linkwork/io/report.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

fs::path empty_folder(const char* name) {
  const fs::path folder = fs::path(testing::TempDir()) / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

std::string refused_input(const fs::path& file) {
  try {
    read_input_file(file, "a file", 1U << 20U);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(InputFile, MustBeARegularFileOfReasonableSize) {
  const fs::path folder = empty_folder("linkwork_input");
  std::ofstream(folder / "good") << "text\n";
  std::ofstream(folder / "large") << std::string((1U << 20U) + 1, 'x');
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_input_file(folder / "good", "a file", 5), "text\n");
  EXPECT_THAT(refused_input(folder / "large"), HasSubstr("large: has more than 1 MB; expected a file"));
  EXPECT_THAT(refused_input(folder / "pipe"), HasSubstr("is a pipe"));  // and nobody waits for a writer
  EXPECT_THAT(refused_input(folder), HasSubstr("is a directory"));
  EXPECT_THAT(refused_input("/dev/zero"), HasSubstr("is a device"));
  EXPECT_THAT(refused_input(folder / "none"), HasSubstr("cannot be opened: No such file or directory"));
  EXPECT_THAT(refused_input(fs::path(std::string("/dev/null\0x", 11))), HasSubstr("NUL"));
}

TEST(JsonText, OfAnyDepthIsParsedOrRefused) {
  EXPECT_EQ(parse_json(R"({"a": ["[[[[", "\"[", 1]})")["a"].size(), 3U);
  for (const int depth : {101, 200'000, 2'000'000}) {
    const auto count = static_cast<std::size_t>(depth);
    EXPECT_THROW(parse_json(std::string(count, '[') + std::string(count, ']')), std::invalid_argument);
    EXPECT_THROW(parse_json(std::string(count, '[')), std::invalid_argument);
  }
  EXPECT_THROW(parse_json("{"), std::invalid_argument);
}

TEST(ReadRun, RefusesAHostileSceneInWords) {
  const fs::path folder = empty_folder("linkwork_scene");
  for (const std::string& scene :
       {std::string(300'000, '['), std::string("[]"), std::string(R"({"columns": {}})"), std::string("")}) {
    std::ofstream(folder / "scene.json") << scene;
    EXPECT_THROW(read_run(folder), InputError);
  }
}

}  // namespace
}  // namespace linkwork
