#include "linkwork/model/visible.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

using namespace std::string_literals;

TEST(Visible, LeavesOrdinaryTextAsItIs) {
  for (const char* text : {"", "plain", "grad(q) = α − θ, Ö, 漢字, 🙂", "back\\slash", "tilde ~"})
    EXPECT_EQ(visible(text), text);
}

TEST(Visible, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(visible("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(visible("a\0b"s), "a\\x00b");
  EXPECT_EQ(visible("one\ntwo\tthree\r"), "one\\ntwo\\tthree\\x0d");
  EXPECT_EQ(visible("\x7f"), "\\x7f");
  EXPECT_EQ(visible("\xc2\x9b"), "\\xc2\\x9b");           // CSI as a character
  EXPECT_EQ(visible("\x9b"), "\\x9b");                    // CSI as a byte
  EXPECT_EQ(visible("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // writes from right to left
  EXPECT_EQ(visible("\xc0\x80"), "\\xc0\\x80");           // NUL, written too long
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half a pair of UTF-16
  EXPECT_EQ(visible("caf\xc3"), "caf\\xc3");              // cut short
}

TEST(Visible, LetsPassWhatItIsTold) {
  const std::array<std::string_view, 2> passing{"\n", "\x1b[33m"};
  EXPECT_EQ(visible("a\n\x1b[33mb\x1b[31m", passing), "a\n\x1b[33mb\\x1b[31m");
}

/// Whatever the bytes: no control characters are left, and what is shown is shown as it is.
TEST(Visible, OfAnyBytesIsPrintableAndStaysAsItIs) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 12, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const std::string shown = visible(text);
    for (const char c : shown) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    EXPECT_EQ(visible(shown), shown);
  }
}

TEST(InputError, IsOneLineWithoutControlCharactersWhateverItQuotes) {
  const InputError error({"file\x1b[2J\n.toml", 3, 4}, "the name 'a\0b' is bad\nlinkwork: all is well"s, "another\x07");
  EXPECT_STREQ(error.what(),
               "file\\x1b[2J\\n.toml:3:4: the name 'a\\x00b' is bad\\nlinkwork: all is well; expected another\\x07");
}

}  // namespace
}  // namespace linkwork
