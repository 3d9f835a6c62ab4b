#include <cstddef>
#include <cstdint>
#include <string_view>

#include "linkwork/fmi/model_description.h"
#include "linkwork/model/input_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    linkwork::parse_model_description(std::string_view(reinterpret_cast<const char*>(data), size), "modelDescription.xml");
  } catch (const linkwork::InputError&) {
  }
  return 0;
}
