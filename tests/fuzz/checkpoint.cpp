// Any bytes must give a checkpoint or an InputError, also behind a first line that fits them; and what is accepted is written and
// read back as the same.

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "linkwork/io/checkpoint_file.h"
#include "linkwork/io/durable_file.h"
#include "linkwork/model/input_error.h"

namespace {

void read(const std::string& text) {
  try {
    const std::string written = linkwork::checkpoint_text(linkwork::parse_checkpoint(text, "run.ckpt"));
    if (linkwork::checkpoint_text(linkwork::parse_checkpoint(written, "run.ckpt")) != written) std::abort();
  } catch (const linkwork::InputError&) {
    // Most are none.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read(text);
  read(fmt::format("linkwork checkpoint 2 {} {:016x}\n{}", text.size(), linkwork::checksum(text), text));
  return 0;
}
