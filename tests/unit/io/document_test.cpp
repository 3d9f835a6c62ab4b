#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "linkwork/io/model_file.h"
#include "linkwork/io/toml_value.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::HasSubstr;

bool is_same(const TomlValue& a, const TomlValue& b) {
  if (a.kind != b.kind || a.text != b.text || a.boolean != b.boolean || a.items.size() != b.items.size() ||
      a.entries.size() != b.entries.size())
    return false;
  if (a.is_number() && std::bit_cast<std::uint64_t>(a.number) != std::bit_cast<std::uint64_t>(b.number)) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!is_same(a.items[i], b.items[i])) return false;
  // Keys of the file itself come before its tables when it is written.
  for (const TomlEntry& entry : a.entries)
    if (const TomlValue* const other = b.find(entry.key); other == nullptr || !is_same(entry.value, *other)) return false;
  return true;
}

TEST(Document, ReadsBackAsWrittenForEveryReadyModel) {
  int count = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(test::source_dir() / "models")) {
    if (file.path().extension() != ".toml") continue;
    const TomlValue root = parse_toml(read_text_file(file.path()), file.path().string());
    EXPECT_TRUE(is_same(root, parse_toml(to_toml(root), "again"))) << file.path();
    ++count;
  }
  EXPECT_GT(count, 30);
}

TEST(Document, KeepsEveryBitOfNumbersAndEveryCharacterOfStrings) {
  TomlValue root;
  root["numbers"] = std::vector<TomlValue>{-0.0,
                                           0.1,
                                           1.0,
                                           1e300,
                                           -1e-300,
                                           5e-324,
                                           123456789012345680.0,
                                           std::numeric_limits<double>::infinity(),
                                           -std::numeric_limits<double>::infinity(),
                                           7};
  root["text"] = std::string("quote \" backslash \\ tab \t line \n bell \a del \x7F ") + "\xC3\xA9";
  root["a key with spaces"]["of a table"] = true;
  EXPECT_TRUE(is_same(root, parse_toml(to_toml(root), "again"))) << to_toml(root);
}

TEST(Document, WritesCommentsThatCannotBecomeText) {
  TomlValue root;
  root.comment = "two\nlines\r[x]";
  root["a"] = 1;
  EXPECT_EQ(to_toml(root), "# two\n# lines [x]\na = 1\n");
}

TEST(Document, IsCheckedWithTheWordsOfAFile) {
  Document document{{}, {"arm", "arm, body 'link'"}};
  document.root["linkwork"] = 1;
  TomlValue body;
  body.file = 1;
  body["name"] = "link";
  body["mass"] = -1.0;
  body["mass"].file = 1;
  document.root["body"] = std::vector<TomlValue>{body};
  try {
    read_model_document(document);
    FAIL() << "it was accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("arm, body 'link': 'mass' is -1; expected"));
  }
}

}  // namespace
}  // namespace linkwork
