#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "linkwork/io/mesh.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

using Vector = Eigen::Vector3d;
using Color = std::array<double, 4>;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlank = " \t\r";
  for (std::size_t at = line.find_first_not_of(kBlank); at < line.size();) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = std::min(line.find_first_not_of(kBlank, end), line.size());
  }
  return words;
}

template <class Number>
bool read_number(std::string_view word, Number& number) {
  if (word.starts_with('+')) word.remove_prefix(1);
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && stop != word.data();
}

void for_each_line(std::string_view text, const auto& visit) {
  int line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    visit(words_of(text.substr(at, end - at)), ++line);
    at = end + 1;
  }
}

/// Diffuse colours and opacities; what cannot be read is left out.
std::map<std::string, Color> read_materials(const std::string& text) {
  std::map<std::string, Color> materials;
  Color* now = nullptr;
  for_each_line(text, [&](const std::vector<std::string_view>& words, int) {
    if (words.size() < 2) return;
    if (words[0] == "newmtl") now = &(materials[std::string(words[1])] = {0.6, 0.6, 0.6, 1.0});
    if (now == nullptr) return;
    const auto part = [&](std::size_t word, double otherwise) {
      double x = otherwise;
      return word < words.size() && read_number(words[word], x) ? std::clamp(x, 0.0, 1.0) : otherwise;
    };
    if (words[0] == "Kd")
      for (std::size_t k = 0; k < 3; ++k) (*now)[k] = part(k + 1, (*now)[k]);
    if (words[0] == "d") (*now)[3] = part(1, 1.0);
    if (words[0] == "Tr") (*now)[3] = 1.0 - part(1, 0.0);
  });
  return materials;
}

}  // namespace

std::vector<Mesh> parse_obj(std::string_view text, const std::string& file, const LoadBeside& beside) {
  std::vector<Vector> points;
  std::map<std::string, Color> materials;
  std::map<std::string, MeshBuilder> parts;  // by material
  std::string material;
  for_each_line(text, [&](const std::vector<std::string_view>& words, int line) {
    if (words.empty()) return;
    const auto refuse = [&](const std::string& what, const std::string& expected) {
      throw InputError({file, line, 1}, what, expected);
    };
    if (words[0] == "v") {
      Vector p;
      for (std::size_t k = 0; k < 3; ++k)
        if (k + 1 >= words.size() || !read_number(words[k + 1], p[static_cast<Eigen::Index>(k)]) ||
            !std::isfinite(p[static_cast<Eigen::Index>(k)]))
          refuse("the point is not made of three numbers", "v x y z");
      points.push_back(p);
    } else if (words[0] == "f") {
      MeshBuilder& part = parts[material];
      std::vector<std::uint32_t> corners;
      for (std::size_t k = 1; k < words.size(); ++k) {
        long number = 0;
        const bool known = read_number(words[k], number) && number != 0 && std::abs(number) <= std::ssize(points);
        if (!known) refuse(fmt::format("the face has the corner '{}'", words[k]), fmt::format("1 to {}", points.size()));
        corners.push_back(part.point(points[static_cast<std::size_t>(number > 0 ? number - 1 : std::ssize(points) + number)]));
      }
      part.polygon(corners);
    } else if (words[0] == "usemtl" && words.size() > 1) {
      material = words[1];
    } else if (words[0] == "mtllib" && words.size() > 1 && beside) {
      const std::string name(words[1]);
      if (name.find("..") == std::string::npos)
        if (const std::optional<std::string> library = beside(name))
          for (const auto& [known, color] : read_materials(*library)) materials[known] = color;
    }
  });
  std::vector<Mesh> meshes;
  for (auto& [name, builder] : parts) {
    if (builder.empty()) continue;
    meshes.push_back(builder.take());
    if (const auto known = materials.find(name); known != materials.end()) meshes.back().color = known->second;
  }
  return meshes;
}

}  // namespace linkwork
