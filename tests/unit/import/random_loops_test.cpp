#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "linkwork/import/robot_file.h"
#include "tests/support/recorded_run.h"

// Robots with random poses, axes, masses and loops, written in every format: all must move alike.

namespace linkwork {
namespace {

using test::RecordedRun;
using M3 = Eigen::Matrix3d;
using V3 = Eigen::Vector3d;

std::string text(const V3& v) { return fmt::format("{} {} {}", v.x(), v.y(), v.z()); }

M3 rotation(const V3& rpy) {
  return (Eigen::AngleAxisd(rpy.z(), V3::UnitZ()) * Eigen::AngleAxisd(rpy.y(), V3::UnitY()) *
          Eigen::AngleAxisd(rpy.x(), V3::UnitX()))
      .toRotationMatrix();
}

/// Bodies on joints, each on an earlier body or the ground, and points of two of them that coincide as written.
struct LoopRobot {
  struct Part {
    int parent;  // -1: the ground
    V3 xyz, rpy, axis, com;
    bool slides;
    double mass, damping;
    M3 inertia;
    Eigen::Isometry3d X;  // in the world, as written
  };
  struct Loop {
    int a, b;
    V3 p_a, p_b;
  };
  std::vector<Part> parts;
  std::vector<Loop> loops;

  explicit LoopRobot(unsigned seed) {
    std::mt19937 random(seed);
    const auto between = [&](double low, double high) {
      return low + (high - low) * static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    };
    const auto vector = [&](double size) { return V3(between(-size, size), between(-size, size), between(-size, size)); };
    const int count = 5 + static_cast<int>(random() % 3);
    for (int i = 0; i < count; ++i) {
      Part part;
      part.parent = i == 0 ? -1 : static_cast<int>(random() % static_cast<unsigned>(i + 1)) - 1;
      if (random() % 3 != 0) part.parent = i - 1;  // long chains, as a rule
      part.xyz = vector(0.4), part.rpy = vector(1.2), part.axis = vector(1.0).normalized(), part.com = vector(0.2);
      part.slides = random() % 5 == 0;
      part.mass = between(0.5, 3.0), part.damping = between(0.0, 0.2);
      const M3 A = rotation(vector(1.0));
      part.inertia = A * V3(between(0.05, 0.08), between(0.05, 0.08), between(0.05, 0.08)).asDiagonal() * A.transpose();
      part.X = Eigen::Isometry3d::Identity();
      part.X.linear() = rotation(part.rpy);
      part.X.translation() = part.xyz;
      if (part.parent >= 0) part.X = parts[static_cast<std::size_t>(part.parent)].X * part.X;
      parts.push_back(part);
    }
    // The last body, and one that is not on the way to it or is the ground.
    const int last = count - 1;
    const V3 p = parts.back().X * vector(0.3);
    loops.push_back({last, -1, parts.back().X.inverse() * p, p});
  }

  static std::string name(int part) { return part < 0 ? "world" : fmt::format("l{}", part); }
  static std::string inertia_list(const M3& I, const char* format) {
    return fmt::format(fmt::runtime(format), I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2));
  }

  std::string urdf_tree() const {
    std::string out = "<robot name=\"loops\"><link name=\"world\"/>\n";
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& p = parts[i];
      out += fmt::format("<link name=\"l{}\"><inertial><origin xyz=\"{}\"/><mass value=\"{}\"/>{}</inertial></link>\n", i,
                         text(p.com), p.mass,
                         inertia_list(p.inertia, R"(<inertia ixx="{}" iyy="{}" izz="{}" ixy="{}" ixz="{}" iyz="{}"/>)"));
      out += fmt::format(
          "<joint name=\"j{0}\" type=\"{1}\"><parent link=\"{2}\"/><child link=\"l{0}\"/><origin xyz=\"{3}\" rpy=\"{4}\"/><axis "
          "xyz=\"{5}\"/><dynamics damping=\"{6}\"/></joint>\n",
          i, p.slides ? "prismatic" : "continuous", name(p.parent), text(p.xyz), text(p.rpy), text(p.axis), p.damping);
    }
    return out;
  }

  std::string urdf_plus() const {
    std::string out = urdf_tree();
    for (const Loop& loop : loops)
      out += fmt::format(
          "<loop name=\"loop1\" type=\"spherical\"><predecessor link=\"{}\"><origin xyz=\"{}\"/></predecessor><successor "
          "link=\"{}\"><origin xyz=\"{}\"/></successor></loop>\n",
          name(loop.a), text(loop.p_a), name(loop.b), text(loop.p_b));
    return out + "</robot>";
  }

  std::string urdf_constraint() const {
    std::string out = urdf_tree();
    for (const Loop& loop : loops)
      out += fmt::format(
          "<constraint name=\"loop1\" type=\"ball\"><parent link=\"{}\"/><parent_origin xyz=\"{}\"/><child link=\"{}\"/>"
          "<child_origin xyz=\"{}\"/></constraint>\n",
          name(loop.a), text(loop.p_a), name(loop.b), text(loop.p_b));
    return out + "</robot>";
  }

  std::string urdf_loop_joint() const {
    std::string out = urdf_tree();
    for (const Loop& loop : loops)
      out += fmt::format(
          "<loop_joint name=\"loop1\" type=\"spherical\"><link1 link=\"{}\" xyz=\"{}\"/><link1 link=\"{}\" "
          "xyz=\"{}\"/></loop_joint>\n",
          name(loop.a), text(loop.p_a), name(loop.b), text(loop.p_b));
    return out + "</robot>";
  }

  std::string urdf_gazebo() const {
    std::string out = urdf_tree();
    for (const Loop& loop : loops)
      out += fmt::format(
          "<gazebo><joint name=\"loop1\" type=\"ball\"><parent>{}</parent><child>{}</child><pose>{} 0 0 "
          "0</pose></joint></gazebo>\n",
          name(loop.b), name(loop.a), text(loop.p_a));
    return out + "</robot>";
  }

  /// For the YAML file, frames are links of their own.
  std::string urdf_frames() const {
    std::string out = urdf_tree();
    for (const Loop& loop : loops)
      for (const auto& [link, p, frame] : {std::tuple{loop.a, loop.p_a, "at_a"}, {loop.b, loop.p_b, "at_b"}})
        out += fmt::format(
            "<link name=\"{0}\"/><joint name=\"{0}_fixed\" type=\"fixed\"><parent link=\"{1}\"/><child link=\"{0}\"/><origin "
            "xyz=\"{2}\"/></joint>\n",
            frame, name(link), text(p));
    return out + "</robot>";
  }

  std::string sdf(bool by_constraint) const {
    std::string out = "<sdf version=\"1.9\" xmlns:drake=\"d\"><model name=\"loops\">\n";
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& p = parts[i];
      const std::string relative = p.parent < 0 ? "" : fmt::format(" relative_to=\"l{}\"", p.parent);
      out += fmt::format(
          "<link name=\"l{}\"><pose{}>{} {}</pose><inertial><pose>{} 0 0 0</pose><mass>{}</mass>{}</inertial></link>\n", i,
          relative, text(p.xyz), text(p.rpy), text(p.com), p.mass,
          inertia_list(p.inertia,
                       "<inertia><ixx>{}</ixx><iyy>{}</iyy><izz>{}</izz><ixy>{}</ixy><ixz>{}</ixz>"
                       "<iyz>{}</iyz></inertia>"));
      out += fmt::format(
          "<joint name=\"j{0}\" "
          "type=\"{1}\"><parent>{2}</parent><child>l{0}</child><axis><xyz>{3}</xyz><dynamics><damping>{4}</damping>"
          "</dynamics></axis></joint>\n",
          i, p.slides ? "prismatic" : "continuous", name(p.parent), text(p.axis), p.damping);
    }
    for (const Loop& loop : loops)
      out += by_constraint
                 ? fmt::format(
                       "<drake:ball_constraint><drake:ball_constraint_body_A>{}</drake:ball_constraint_body_A><drake:ball_"
                       "constraint_p_AP>{}</drake:ball_constraint_p_AP><drake:ball_constraint_body_B>{}</drake:ball_"
                       "constraint_body_B><drake:ball_constraint_p_BQ>{}</drake:ball_constraint_p_BQ></drake:ball_constraint>",
                       name(loop.a), text(loop.p_a), name(loop.b), text(loop.p_b))
                 : fmt::format(
                       "<joint name=\"loop1\" type=\"ball\"><pose>{} 0 0 0</pose><parent>{}</parent><child>{}</child></joint>",
                       text(loop.p_a), name(loop.b), name(loop.a));
    return out + "</model></sdf>";
  }

  void add_mjcf_bodies(int parent, std::string& out) const {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& p = parts[i];
      if (p.parent != parent) continue;
      out += fmt::format(
          "<body name=\"l{0}\" pos=\"{1}\" euler=\"{2}\"><inertial pos=\"{3}\" mass=\"{4}\" fullinertia=\"{5}\"/><joint "
          "name=\"j{0}\" "
          "type=\"{6}\" axis=\"{7}\" damping=\"{8}\"/>",
          i, text(p.xyz), text(p.rpy), text(p.com), p.mass, inertia_list(p.inertia, "{} {} {} {} {} {}"),
          p.slides ? "slide" : "hinge", text(p.axis), p.damping);
      for (const Loop& loop : loops)
        if (loop.a == static_cast<int>(i)) out += fmt::format("<site name=\"at_a\" pos=\"{}\"/>", text(loop.p_a));
      add_mjcf_bodies(static_cast<int>(i), out);
      out += "</body>\n";
    }
  }

  std::string mjcf(bool by_sites) const {
    std::string out = "<mujoco model=\"loops\"><compiler angle=\"radian\" eulerseq=\"XYZ\"/><worldbody>\n";
    for (const Loop& loop : loops) out += fmt::format("<site name=\"at_b\" pos=\"{}\"/>", text(loop.p_b));
    add_mjcf_bodies(-1, out);
    out += "</worldbody><equality>";
    for (const Loop& loop : loops)
      out += by_sites ? "<connect site1=\"at_a\" site2=\"at_b\"/>"
                      : fmt::format("<connect body1=\"{}\" anchor=\"{}\"/>", name(loop.a), text(loop.p_a));
    return out + "</equality></mujoco>";
  }
};

std::vector<std::pair<std::string, Spec>> written(const LoopRobot& robot) {
  ReadOptions with_loops;
  with_loops.load = [](const std::filesystem::path&) { return "closed_loop: [[at_a, at_b]]\ntype: [3D]\n"; };
  ReadOptions alone;
  alone.load = [](const std::filesystem::path& file) -> std::string { throw InputError({file.string(), 0, 0}, "is not there"); };
  return {{"URDF+", read_robot_text(robot.urdf_plus(), "r.urdf", {}, alone)},
          {"<constraint>", read_robot_text(robot.urdf_constraint(), "r.urdf", {}, alone)},
          {"<loop_joint>", read_robot_text(robot.urdf_loop_joint(), "r.urdf", {}, alone)},
          {"<gazebo>", read_robot_text(robot.urdf_gazebo(), "r.urdf", {}, alone)},
          {"YAML", read_robot_text(robot.urdf_frames(), "r.urdf", {}, with_loops)},
          {"SDF joint", read_robot_text(robot.sdf(false), "r.sdf")},
          {"SDF ball constraint", read_robot_text(robot.sdf(true), "r.sdf")},
          {"MJCF bodies", read_robot_text(robot.mjcf(false), "r.xml")},
          {"MJCF sites", read_robot_text(robot.mjcf(true), "r.xml")}};
}

class RandomLoopRobot : public testing::TestWithParam<unsigned> {};

TEST_P(RandomLoopRobot, MovesAlikeInWhateverSyntaxItIsWritten) {
  const LoopRobot robot(GetParam());
  std::vector<std::vector<double>> motions;
  for (auto& [syntax, spec] : written(robot)) {
    spec.settings.end = 0.5;
    spec.settings.output_every = 0.05;
    spec.settings.integrator = {"dopri45", {}, {}};
    spec.settings.rtol = 1e-11, spec.settings.atol = 1e-12;
    const RecordedRun run(spec);
    ASSERT_TRUE(run.summary.completed) << syntax;
    EXPECT_LT(run.summary.position_error_max, 1e-10) << syntax;
    std::vector<double> motion;
    for (std::size_t j = 0; j < robot.parts.size(); ++j)
      for (const auto& row : run.rows) motion.push_back(row[run.column(fmt::format("q.j{}", j))]);
    for (std::size_t k = 0; !motions.empty() && k < motion.size(); ++k)
      ASSERT_NEAR(motion[k], motions[0][k], 1e-9) << syntax << " at " << k;
    motions.push_back(std::move(motion));
  }
  double reach = 0.0;
  for (const double q : motions[0]) reach = std::max(reach, std::abs(q));
  EXPECT_GT(reach, 0.05) << "it moves";
}

TEST_P(RandomLoopRobot, IsTheSameToTheLastBitOnceItIsWrittenAndReadAgain) {
  const LoopRobot robot(GetParam());
  for (const auto& [file, name] :
       {std::pair{robot.urdf_plus(), "r.urdf"}, {robot.sdf(false), "r.sdf"}, {robot.mjcf(true), "r.xml"}}) {
    Spec direct = read_robot_text(file, name);
    Spec again = read_model_text(model_text(import_robot(file, name), name), "r.toml");
    for (Spec* spec : {&direct, &again}) spec->settings.end = 0.1;
    const RecordedRun one(direct), other(again);
    EXPECT_EQ(one.columns, other.columns);
    EXPECT_EQ(one.rows, other.rows) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Import, RandomLoopRobot, testing::Range(1U, 9U));

}  // namespace
}  // namespace linkwork
