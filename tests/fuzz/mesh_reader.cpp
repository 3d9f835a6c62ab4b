// Any bytes must give a mesh or an InputError, and what is thinned must still be a mesh. The first byte tells the format.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "linkwork/io/mesh.h"
#include "linkwork/model/input_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const char* const name = data[0] % 3 == 0 ? "a.stl" : data[0] % 3 == 1 ? "a.obj" : "a.dae";
  const auto beside = [&](const std::string&) -> std::optional<std::string> { return std::string(bytes); };
  try {
    for (const linkwork::Mesh& mesh : linkwork::parse_mesh(bytes, name, beside)) {
      const linkwork::Mesh thin = linkwork::thinned(mesh, 20);
      for (const auto& corner : thin.triangles)
        for (const std::uint32_t point : corner)
          if (point >= thin.points.size()) std::abort();
    }
  } catch (const linkwork::InputError&) {
    // Most bytes are no mesh.
  }
  return 0;
}
