#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "linkwork/import/robot_file.h"
#include "linkwork/import/xml.h"
#include "linkwork/simulation/check.h"
#include "tests/unit/import/parallelogram.h"

namespace linkwork {
namespace {

using testing::HasSubstr;

std::string trouble(const std::string& text, const std::string& file, const ReadOptions& reading = {}) {
  try {
    read_robot_text(text, file, {}, reading);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(HostileRobotFile, CutShortAnywhereIsRefusedOrRead) {
  const test::Parallelogram p;
  for (const auto& [text, name] : {std::pair{p.urdf_plus(), "p.urdf"}, {p.sdf(), "p.sdf"}, {p.mjcf(), "p.xml"}})
    for (std::size_t size = 0; size + 2 < text.size(); size += 7)
      EXPECT_THAT(trouble(text.substr(0, size), name), HasSubstr(name)) << size;
}

TEST(HostileRobotFile, DoesNotExpandEntities) {
  std::string text = "<?xml version=\"1.0\"?><!DOCTYPE robot [<!ENTITY a0 \"aaaaaaaaaa\">";
  for (int i = 1; i < 30; ++i) text += fmt::format("<!ENTITY a{} \"&a{};&a{};&a{};&a{};\">", i, i - 1, i - 1, i - 1, i - 1);
  text += "]><robot name=\"&a29;\"><link name=\"&a29;\"/></robot>";
  EXPECT_NE(trouble(text, "bomb.urdf"), "");
}

TEST(HostileRobotFile, RefusesNestingThatWouldOverflowTheStack) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "<a>";
  for (int i = 0; i < 100000; ++i) text += "</a>";
  EXPECT_THAT(trouble(text, "deep.urdf"), HasSubstr("nested too deeply"));
  EXPECT_NE(trouble("<robot name=\"r\"><link name=\"l\"/></robot>", "r.urdf",
                    {.load = [](const std::filesystem::path&) { return "a: " + std::string(100000, '['); }}),
            "");
}

TEST(HostileRobotFile, RefusesIncludesThatLeadBack) {
  ReadOptions reading;
  reading.load = [](const std::filesystem::path& file) {
    return file.filename() == "b.xml" ? "<mujocoinclude><include file=\"a.xml\"/></mujocoinclude>"
                                      : "<mujocoinclude><include file=\"b.xml\"/></mujocoinclude>";
  };
  EXPECT_THAT(trouble("<mujoco>\n<include file=\"b.xml\"/></mujoco>", "a.xml", reading),
              HasSubstr("includes a file that includes it"));
  reading.load = [](const std::filesystem::path&) {
    return "<sdf version=\"1.9\"><model name=\"m\"><link name=\"l\"/><include><uri>m.sdf</uri></include></model></sdf>";
  };
  EXPECT_THAT(
      trouble("<sdf version=\"1.9\"><model name=\"m\"><link name=\"l\"/><include><uri>n.sdf</uri></include></model></sdf>",
              "m.sdf", reading),
      HasSubstr("includes a file that includes it"));
}

TEST(HostileRobotFile, RefusesCopiesOfCopiesOfCopies) {
  std::string text = "<mujoco><worldbody>";
  for (int i = 0; i < 6; ++i) text += "<replicate count=\"1000\">";
  text += "<body><joint/><geom size=\"1\"/></body>";
  for (int i = 0; i < 6; ++i) text += "</replicate>";
  EXPECT_THAT(trouble(text + "</worldbody></mujoco>", "copies.xml"), HasSubstr("too many elements"));
}

TEST(HostileRobotFile, RefusesFramesInACircle) {
  EXPECT_THAT(trouble(R"(<sdf version="1.9"><model name="m"><link name="l"><pose relative_to="f"/></link>
<frame name="f"><pose relative_to="l"/></frame></model></sdf>)",
                      "m.sdf"),
              HasSubstr("relative to itself"));
  EXPECT_THAT(
      trouble(
          R"(<sdf version="1.9"><model name="m"><link name="l"/><frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>
<joint name="j" type="fixed"><parent>f</parent><child>l</child></joint></model></sdf>)",
          "m.sdf"),
      HasSubstr("itself"));
}

TEST(HostileRobotFile, ReadsAHundredThousandLinks) {
  constexpr int kLinks = 100000;
  std::string text = "<robot name=\"chain\"><link name=\"l0\"/>";
  for (int i = 1; i <= kLinks; ++i)
    text += fmt::format(
        "<link name=\"l{0}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>"
        "<joint name=\"j{0}\" type=\"continuous\"><parent link=\"l{1}\"/><child link=\"l{0}\"/></joint>",
        i, i / 2);
  EXPECT_EQ(read_robot_text(text + "</robot>", "chain.urdf").joints.size(), static_cast<std::size_t>(kLinks));
}

/// About one axis a long chain has a bounded inertia, about the others one that grows with the cube of its length: that is not
/// nothing, and no reason for a dense solution.
TEST(HostileRobotFile, ChecksALongChainInTimeThatGrowsWithItsLength) {
  constexpr int kLinks = 60000;
  const char* const inertial =
      "<inertial><origin xyz=\"0 0 0.1\"/><mass value=\"1\"/><inertia ixx=\"0.1\" iyy=\"0.1\" izz=\"0.1\"/></inertial>";
  std::string text = fmt::format("<robot name=\"chain\"><link name=\"l0\">{}</link>", inertial);
  for (int i = 1; i < kLinks; ++i)
    text += fmt::format(
        "<link name=\"l{0}\">{2}</link><joint name=\"j{0}\" type=\"continuous\"><parent link=\"l{1}\"/><child link=\"l{0}\"/>"
        "<origin xyz=\"0 0 0.2\"/><axis xyz=\"1 0 0\"/></joint>",
        i, i - 1, inertial);
  const CheckReport report = check(build_model(read_robot_text(text + "</robot>", "chain.urdf")));
  EXPECT_EQ(report.trouble, "");
  EXPECT_EQ(report.dof, kLinks + 5);
  EXPECT_THAT(report.formulation_reason, HasSubstr("linear time"));
}

TEST(HostileRobotFile, ReadsLongChainsOfFramesLoopsAndMimics) {
  constexpr int kLinks = 20000;
  std::string sdf = "<sdf version=\"1.9\"><model name=\"m\">", urdf = "<robot name=\"r\"><link name=\"l0\"/>";
  for (int i = 1; i <= kLinks; ++i) {
    const std::string relative = i == 1 ? "" : fmt::format(" relative_to=\"l{}\"", i - 1);
    sdf +=
        fmt::format("<link name=\"l{0}\"><pose{1}>0.1 0 0 0 0 0</pose><inertial><mass>1</mass></inertial></link>", i, relative);
    if (i > 1)
      sdf += fmt::format("<joint name=\"j{0}\" type=\"ball\"><parent>l{1}</parent><child>l{0}</child></joint>", i, i - 1);
    urdf += fmt::format(
        "<link name=\"l{0}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>"
        "<joint name=\"j{0}\" type=\"continuous\"><parent link=\"l{1}\"/><child link=\"l{0}\"/><mimic joint=\"j1\"/></joint>",
        i, i / 2);
  }
  EXPECT_EQ(import_robot(sdf + "</model></sdf>", "m.sdf").document.root.find("joint")->items.size(),
            static_cast<std::size_t>(kLinks));
  urdf.replace(urdf.find("<mimic joint=\"j1\"/>"), 19, "");
  EXPECT_EQ(import_robot(urdf + "</robot>", "r.urdf").document.root.find("closure")->items.size(),
            static_cast<std::size_t>(kLinks - 1));
}

}  // namespace
}  // namespace linkwork
