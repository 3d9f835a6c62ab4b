#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "linkwork/io/model_file.h"
#include "linkwork/io/scene.h"

namespace linkwork {
namespace {

using testing::Contains;
using testing::HasSubstr;
using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kBody = R"(linkwork = 1
name = "drawn"
[parameters]
r = 0.25
[[body]]
name = "arm"
mass = 1.0
inertia = [1, 1, 1]
[[joint]]
name = "pin"
type = "revolute"
parent = { body = "ground" }
child = { body = "arm" }
)";

Spec read_visual(const std::string& visuals, const std::string& file = "drawn.toml") {
  return read_model_text(kBody + visuals, file);
}

std::string visual_trouble(const std::string& visuals) {
  try {
    read_visual(visuals);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Json scene_of(const Spec& spec) { return Json::parse(scene_json(spec, build_model(spec), std::vector<std::string>{"t"})); }

TEST(Visual, OfEveryShapeComesIntoTheScene) {
  const Spec spec = read_visual(R"(
[[visual]]
shape = "box"
body = "arm"
at = [1, 2, 3]
quat = [0, 1, 0, 0]
size = [0.1, 0.2, 0.3]
color = [1, 0.5, 0]
[[visual]]
shape = "cylinder"
body = "ground"
radius = "r"
length = 2
color = [0, 0, 1, 0.5]
[[visual]]
shape = "capsule"
body = "arm"
radius = 1
length = 0
[[visual]]
shape = "sphere"
body = "arm"
radius = "r/i"
repeat = { i = [1, 2] }
[[visual]]
shape = "ellipsoid"
body = "arm"
radii = [1, 2, 3]
)");
  const Json visuals = scene_of(spec).at("visuals");
  ASSERT_EQ(visuals.size(), 6U);
  EXPECT_EQ(visuals[0]["shape"], "box");
  EXPECT_EQ(visuals[0]["at"], Json::parse(R"({"body": 1, "p": [1.0, 2.0, 3.0], "q": [0.0, 1.0, 0.0, 0.0]})"));
  EXPECT_EQ(visuals[0]["size"], Json({0.1, 0.2, 0.3}));
  EXPECT_EQ(visuals[0]["color"], Json({1.0, 0.5, 0.0, 1.0}));
  EXPECT_EQ(visuals[1]["at"]["body"], 0);
  EXPECT_EQ(visuals[1]["radius"], 0.25);
  EXPECT_EQ(visuals[1]["color"][3], 0.5);
  EXPECT_EQ(visuals[4]["radius"], 0.125);
  EXPECT_EQ(visuals[5]["size"], Json({1.0, 2.0, 3.0}));
}

TEST(Visual, WithAMeshIsEmbedded) {
  const fs::path folder = fs::temp_directory_path() / "linkwork_visual_test";
  fs::create_directories(folder / "parts");
  std::ofstream(folder / "parts/t.obj") << "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
  std::ofstream(folder / "parts/bad.obj") << "v 0 0\n";
  const Spec spec = read_visual(R"(
[[visual]]
shape = "mesh"
body = "arm"
file = "parts/t.obj"
scale = [0.5, 0.5, 0.5]
[[visual]]
shape = "mesh"
body = "ground"
file = "parts/t.obj"
color = [1, 0, 0]
[[visual]]
shape = "mesh"
body = "arm"
file = "parts/bad.obj"
[[visual]]
shape = "mesh"
body = "arm"
file = "parts/none.stl"
)",
                                (folder / "drawn.toml").string());
  EXPECT_THAT(spec.notes, Contains(HasSubstr("'parts/none.stl' on 'arm' is not there")));
  const Json scene = scene_of(spec);
  ASSERT_EQ(scene["meshes"].size(), 1U) << "one for both";
  ASSERT_EQ(scene["visuals"].size(), 2U);
  EXPECT_EQ(scene["visuals"][0]["mesh"], 0);
  EXPECT_EQ(scene["visuals"][0]["size"], Json({0.5, 0.5, 0.5}));
  EXPECT_EQ(scene["visuals"][1]["color"], Json({1.0, 0.0, 0.0, 1.0}));
  const Json& mesh = scene["meshes"][0];
  EXPECT_EQ(mesh["file"], "t.obj");
  EXPECT_EQ(mesh["triangles"], 4);
  EXPECT_EQ(mesh["low"], Json({0.0, 0.0, 0.0}));
  EXPECT_NEAR(mesh["step"][0].get<double>() * 65535.0, 2.0, 1e-12);
  EXPECT_EQ(mesh["positions"].get<std::string>().size(), 4U * 8U) << "4 points of 6 bytes";
  EXPECT_EQ(mesh["indices"].get<std::string>().size(), 4U * 8U) << "4 triangles of 6 bytes";
  EXPECT_THAT(SceneMeshes(spec).notes(), Contains(HasSubstr("three numbers")));
  fs::remove_all(folder);
}

TEST(Visual, IsRefusedWithItsPlaceIfItMakesNoSense) {
  EXPECT_THAT(visual_trouble("[[visual]]\nshape = \"box\"\nbody = \"leg\"\nsize = [1, 1, 1]\n"), HasSubstr("unknown body 'leg'"));
  EXPECT_THAT(visual_trouble("[[visual]]\nshape = \"box\"\nbody = \"arm\"\n"), HasSubstr("size"));
  EXPECT_THAT(visual_trouble("[[visual]]\nshape = \"cone\"\nbody = \"arm\"\n"), HasSubstr("cone"));
  EXPECT_THAT(visual_trouble("[[visual]]\nshape = \"sphere\"\nbody = \"arm\"\nradius = -1\n"), HasSubstr("drawn.toml:17"));
  EXPECT_THAT(visual_trouble("[[visual]]\nshape = \"sphere\"\nbody = \"arm\"\nradius = 1\ncolor = [2, 0, 0]\n"),
              HasSubstr("from 0 to 1"));
  EXPECT_THAT(visual_trouble("[[visual]]\nshape = \"sphere\"\nbody = \"arm\"\nradius = 1\nlength = 1\n"), HasSubstr("length"));
  EXPECT_THAT(visual_trouble("[[visual]]\nshape = \"mesh\"\nbody = \"arm\"\nfile = \"a.stl\"\nscale = [1, 0, 1]\n"),
              HasSubstr("scale"));
}

}  // namespace
}  // namespace linkwork
