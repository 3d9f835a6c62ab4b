#include <cstddef>
#include <cstdint>
#include <string>

#include "linkwork/fmi/zip_archive.h"
#include "linkwork/model/input_error.h"

// Archives: as they come, and, if the first byte is odd, good ones in which the bytes that follow change others.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size > 0 && data[0] % 2 == 1) {
    const std::size_t half = size / 2;
    std::string good =
        linkwork::zipped({{"modelDescription.xml", bytes.substr(half)}, {"resources/data", std::string(300, 'a')}});
    for (std::size_t k = 1; k + 2 < half; k += 3)
      good[(data[k] + 256U * data[k + 1]) % good.size()] = static_cast<char>(data[k + 2]);
    bytes = good;
  }
  try {
    const linkwork::ZipArchive archive(bytes, "fuzz.fmu", {.entries = 100, .bytes = 1U << 22U});
    for (std::size_t k = 0; k < archive.entries().size(); ++k) archive.read(k);
  } catch (const linkwork::InputError&) {
  }
  return 0;
}
