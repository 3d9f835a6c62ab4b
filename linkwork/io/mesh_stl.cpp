#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "linkwork/io/mesh.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

using Vector = Eigen::Vector3d;

constexpr std::size_t kHead = 84, kFacet = 50;  // bytes

std::uint32_t facet_count(std::string_view data) {
  std::uint32_t count = 0;
  std::memcpy(&count, data.data() + 80, sizeof count);
  return count;
}

bool is_finite(const Vector& p) { return p.allFinite(); }

Mesh binary(std::string_view data, const std::string& file) {
  MeshBuilder builder;
  const std::size_t count = std::min<std::size_t>(facet_count(data), (data.size() - kHead) / kFacet);
  for (std::size_t f = 0; f < count; ++f) {
    std::array<float, 9> x{};
    std::memcpy(x.data(), data.data() + kHead + f * kFacet + 12, sizeof x);
    std::array<std::uint32_t, 3> corner{};
    for (std::size_t k = 0; k < 3; ++k) {
      const Vector p(x[3 * k], x[3 * k + 1], x[3 * k + 2]);
      if (!is_finite(p)) throw InputError({file, 0, 0}, fmt::format("facet {} has a point that is not finite", f + 1));
      corner[k] = builder.point(p);
    }
    builder.triangle(corner[0], corner[1], corner[2]);
  }
  return builder.take();
}

/// Only the points count: "vertex x y z", three for each facet.
Mesh ascii(std::string_view text, const std::string& file) {
  MeshBuilder builder;
  std::vector<std::uint32_t> corners;
  int line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view words = text.substr(at, end - at);
    at = end + 1;
    ++line;
    const auto skip = [&] { words.remove_prefix(std::min(words.find_first_not_of(" \t\r"), words.size())); };
    skip();
    if (words.starts_with("endfacet")) {
      builder.polygon(corners);
      corners.clear();
    }
    if (!words.starts_with("vertex")) continue;
    words.remove_prefix(6);
    Vector p;
    for (int k = 0; k < 3; ++k) {
      skip();
      if (words.starts_with('+')) words.remove_prefix(1);
      const auto [stop, error] = std::from_chars(words.data(), words.data() + words.size(), p[k]);
      if (error != std::errc{} || !std::isfinite(p[k]))
        throw InputError({file, line, 1}, "the vertex is not made of three numbers", "vertex x y z");
      words.remove_prefix(static_cast<std::size_t>(stop - words.data()));
    }
    corners.push_back(builder.point(p));
  }
  return builder.take();
}

}  // namespace

std::vector<Mesh> parse_stl(std::string_view data, const std::string& file) {
  // Some programs begin binary files with "solid" too: the size tells.
  const bool fits = data.size() >= kHead && data.size() >= kHead + kFacet * static_cast<std::size_t>(facet_count(data));
  const bool says_text = data.substr(0, 256).find("solid") != std::string_view::npos;
  const bool has_facets = data.substr(0, 4096).find("facet") != std::string_view::npos;
  if (says_text && has_facets) {
    Mesh mesh = ascii(data, file);
    if (mesh.triangles.empty()) return {};
    return {std::move(mesh)};
  }
  if (says_text && !fits && data.size() < kHead + kFacet) return {};
  if (!fits) throw InputError({file, 0, 0}, "is cut off, or no STL file", "as many facets as its head says");
  Mesh mesh = binary(data, file);
  if (mesh.triangles.empty()) return {};
  return {std::move(mesh)};
}

}  // namespace linkwork
