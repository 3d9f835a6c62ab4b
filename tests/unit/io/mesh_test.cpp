#include "linkwork/io/mesh.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

using testing::HasSubstr;
using V3 = Eigen::Vector3d;

std::string trouble(const std::string& data, const std::string& name) {
  try {
    parse_mesh(data, name);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// The volume that triangles enclose, counted counter-clockwise from outside.
double volume(const Mesh& mesh) {
  double sum = 0.0;
  for (const auto& t : mesh.triangles) sum += mesh.points[t[0]].dot(mesh.points[t[1]].cross(mesh.points[t[2]])) / 6.0;
  return sum;
}

Mesh ball(int rings) {
  MeshBuilder builder;
  const auto at = [&](int i, int k) {
    const double a = std::numbers::pi * i / rings, b = std::numbers::pi * (k % (2 * rings)) / rings;
    return builder.point({std::sin(a) * std::cos(b), std::sin(a) * std::sin(b), std::cos(a)});
  };
  for (int i = 0; i < rings; ++i)
    for (int k = 0; k < 2 * rings; ++k) {
      builder.triangle(at(i, k), at(i + 1, k), at(i + 1, k + 1));
      builder.triangle(at(i, k), at(i + 1, k + 1), at(i, k + 1));
    }
  return builder.take();
}

std::string ascii_stl(const Mesh& mesh) {
  std::string text = "solid thing\n";
  for (const auto& t : mesh.triangles) {
    text += "facet normal 0 0 0\n outer loop\n";
    for (const auto p : t) text += fmt::format("  vertex {} {} {}\n", mesh.points[p].x(), mesh.points[p].y(), mesh.points[p].z());
    text += " endloop\nendfacet\n";
  }
  return text + "endsolid thing\n";
}

std::string binary_stl(const Mesh& mesh, const std::string& head = "made by a program") {
  std::string data(80, ' ');
  data.replace(0, head.size(), head);
  const auto add = [&](const auto& value) { data.append(reinterpret_cast<const char*>(&value), sizeof value); };
  add(static_cast<std::uint32_t>(mesh.triangles.size()));
  for (const auto& t : mesh.triangles) {
    for (int k = 0; k < 3; ++k) add(0.0F);
    for (const auto p : t)
      for (int k = 0; k < 3; ++k) add(static_cast<float>(mesh.points[p][k]));
    add(std::uint16_t{0});
  }
  return data;
}

constexpr const char* kTetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";

TEST(Mesh, ReadsStlOfBothSorts) {
  const Mesh sphere = ball(8);
  for (const std::string& data : {ascii_stl(sphere), binary_stl(sphere), binary_stl(sphere, "solid but binary")}) {
    const std::vector<Mesh> read = parse_mesh(data, "ball.STL");
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].triangles.size(), sphere.triangles.size());
    EXPECT_EQ(read[0].points.size(), sphere.points.size()) << "equal points are one";
    EXPECT_NEAR(volume(read[0]), volume(sphere), 1e-6);
  }
}

TEST(Mesh, ReadsObjWithPolygonsNegativeNumbersAndMaterials) {
  const auto beside = [](const std::string& name) -> std::optional<std::string> {
    if (name != "paint.mtl") return {};
    return "newmtl red\nKd 1 0.25 0\nd 0.5\nnewmtl blue\nKd 0 0 1\n";
  };
  const std::string text = std::string("mtllib paint.mtl\n") + kTetrahedron +
                           "usemtl red\nf 1/1/1 3//2 2/3\nf -4 -3 -1\nusemtl blue\nf 2 3 4\nf 1 4 3\n"
                           "v 1 1 0\nusemtl other\nf 1 2 5 3\n";
  const std::vector<Mesh> read = parse_mesh(text, "t.obj", beside);
  ASSERT_EQ(read.size(), 3U);  // by name: blue, other, red
  EXPECT_EQ(read[0].color, (std::array<double, 4>{0.0, 0.0, 1.0, 1.0}));
  EXPECT_FALSE(read[1].color);
  EXPECT_EQ(read[1].triangles.size(), 2U) << "a square";
  EXPECT_EQ(read[2].color, (std::array<double, 4>{1.0, 0.25, 0.0, 0.5}));
  EXPECT_NEAR(volume(read[0]) + volume(read[2]), 1.0 / 6.0, 1e-15);
}

std::string collada(const std::string& node, const std::string& faces) {
  return R"(<?xml version="1.0"?><COLLADA><asset><unit meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique><lambert><diffuse><color>0 1 0 1</color></diffuse></lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh><source id="s"><float_array count="12">0 0 0 100 0 0 0 100 0 0 0 100</float_array>
<technique_common><accessor stride="3"/></technique_common></source><vertices id="v"><input semantic="POSITION" source="#s"/></vertices>)" +
         faces + R"(</mesh></geometry></library_geometries><library_visual_scenes><visual_scene>)" + node +
         "</visual_scene></library_visual_scenes></COLLADA>";
}
constexpr const char* kInstance =
    R"(<instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="paint" target="#m"/></technique_common></bind_material></instance_geometry>)";
constexpr const char* kTriangles =
    R"(<triangles material="paint"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#n" offset="1"/>
<p>0 0 2 0 1 0  0 0 1 0 3 0  1 0 2 0 3 0  0 0 3 0 2 0</p></triangles>)";

TEST(Mesh, ReadsColladaWithUnitsNodesAndColours) {
  const std::string node =
      std::string("<node><translate>0 0 100</translate><node><rotate>0 0 1 90</rotate><scale>2 1 1</scale>") + kInstance +
      "</node></node>";
  const std::vector<Mesh> read = parse_mesh(collada(node, kTriangles), "t.dae");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].color, (std::array<double, 4>{0.0, 1.0, 0.0, 1.0}));
  EXPECT_NEAR(volume(read[0]), 2.0 / 6.0, 1e-12) << "in metres, scaled";
  V3 high = V3::Constant(-1e9);
  for (const V3& p : read[0].points) high = high.cwiseMax(p);
  EXPECT_TRUE(high.isApprox(V3(0, 2, 2), 1e-12)) << high.transpose();
}

TEST(Mesh, ReadsPolygonsOfColladaAndMirrorsThem) {
  const std::string faces =
      R"(<polylist count="4"><input semantic="VERTEX" source="#v" offset="0"/><vcount>3 3 3 3</vcount><p>0 2 1 0 1 3 1 2 3 0 3 2</p></polylist>)";
  const std::string node = std::string("<node><scale>-1 1 1</scale>") + kInstance + "</node>";
  const std::vector<Mesh> read = parse_mesh(collada(node, faces), "t.dae");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_NEAR(volume(read[0]), 1.0 / 6.0, 1e-12) << "faces still look outwards";
}

TEST(Mesh, IsThinnedToWhatIsAskedAndKeepsItsShape) {
  const Mesh sphere = ball(150);
  ASSERT_GT(sphere.triangles.size(), 80000U);
  for (const std::size_t most : {20000U, 2000U, 300U}) {
    const Mesh thin = thinned(sphere, most);
    EXPECT_LE(thin.triangles.size(), most);
    EXPECT_GT(thin.triangles.size(), most / 4);
    EXPECT_NEAR(volume(thin), volume(sphere), 60.0 / static_cast<double>(most));
    for (const V3& p : thin.points) EXPECT_NEAR(p.norm(), 1.0, 20.0 / static_cast<double>(most));
    for (const auto& t : thin.triangles)
      for (const auto p : t) EXPECT_LT(p, thin.points.size());
  }
}

TEST(Mesh, ThatIsSmallIsLeftAsItIs) {
  const Mesh sphere = ball(6);
  EXPECT_EQ(thinned(sphere, 1000).triangles.size(), sphere.triangles.size());
}

TEST(Mesh, ThatIsDamagedIsRefusedInWords) {
  EXPECT_THAT(trouble(binary_stl(ball(8)).substr(0, 500), "a.stl"), HasSubstr("cut off"));
  EXPECT_THAT(trouble("solid\nfacet\nvertex 1 2\nendfacet", "a.stl"), HasSubstr("a.stl:3"));
  EXPECT_THAT(trouble(std::string(kTetrahedron) + "f 1 2 9\n", "a.obj"), HasSubstr("'9'"));
  EXPECT_THAT(trouble("v 1 nan 2\n", "a.obj"), HasSubstr("three numbers"));
  EXPECT_THAT(trouble("", "a.obj"), HasSubstr("no triangles"));
  EXPECT_THAT(trouble("<COLLADA><unclosed", "a.dae"), HasSubstr("cannot be read"));
  EXPECT_THAT(trouble("<html/>", "a.dae"), HasSubstr("no COLLADA"));
  EXPECT_THAT(trouble("x", "a.ply"), HasSubstr(".stl, .obj or .dae"));
  const std::string far = R"(<triangles><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 77</p></triangles>)";
  EXPECT_THAT(trouble(collada(std::string("<node>") + kInstance + "</node>", far), "a.dae"), HasSubstr("77"));
}

TEST(Mesh, WithNodesThatLeadBackDoesNotHang) {
  const std::string node =
      "<node id=\"x\"><instance_node url=\"#x\"/><instance_node url=\"#x\"/>" + std::string(kInstance) + "</node>";
  EXPECT_NE(trouble(collada(node, kTriangles), "a.dae"), "");
}

TEST(Mesh, OfAnyBytesIsReadOrRefused) {
  std::mt19937 random(3);
  const Mesh sphere = ball(4);
  const std::vector<std::pair<std::string, std::string>> seeds{
      {"a.stl", binary_stl(sphere)},
      {"a.stl", ascii_stl(sphere)},
      {"a.obj", std::string(kTetrahedron) + "f 1 2 3\nf 1 2 3 4\n"},
      {"a.dae", collada(std::string("<node>") + kInstance + "</node>", kTriangles)}};
  for (int trial = 0; trial < 4000; ++trial) {
    auto [name, data] = seeds[random() % seeds.size()];
    for (unsigned k = 0; k < 1 + random() % 8; ++k) data[random() % data.size()] = static_cast<char>(random() % 256);
    if (random() % 4 == 0) data.resize(random() % data.size());
    try {
      for (const Mesh& mesh : parse_mesh(data, name)) thinned(mesh, 10);
    } catch (const InputError&) {  // as it should be
    }
  }
}

}  // namespace
}  // namespace linkwork
