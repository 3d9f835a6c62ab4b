#include "linkwork/io/solids.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <numbers>
#include <random>

#include "linkwork/io/model_file.h"

namespace linkwork {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Matrix3d diagonal(double x, double y, double z) { return Vector3d(x, y, z).asDiagonal(); }

BodySpec read_solid(const std::string& solid) {
  return read_model_text("linkwork = 1\n[[body]]\nname = \"a\"\nsolid = { " + solid + " }\n", "model.toml").bodies[0];
}

TEST(SolidsTest, RodIsASlenderLine) {
  const BodySpec body = read_solid("shape = \"rod\", from = [1, 2, 3], to = [1, 5, 3], mass = 2");
  EXPECT_EQ(body.mass, 2.0);
  EXPECT_EQ(body.com, Vector3d(1.0, 3.5, 3.0));
  EXPECT_TRUE(body.inertia.isApprox(diagonal(1.5, 0.0, 1.5), 1e-15));
}

TEST(SolidsTest, DensityOfARodIsPerLength) {
  EXPECT_DOUBLE_EQ(read_solid("shape = \"rod\", to = [3, 4, 0], density = 0.5").mass, 2.5);
}

TEST(SolidsTest, Cylinder) {
  const BodySpec body = read_solid("shape = \"cylinder\", from = [0, 0, -1], to = [0, 0, 3], radius = 0.5, density = 100");
  const double mass = 100.0 * std::numbers::pi * 0.25 * 4.0;
  EXPECT_DOUBLE_EQ(body.mass, mass);
  EXPECT_EQ(body.com, Vector3d(0.0, 0.0, 1.0));
  const double across = mass * (3.0 * 0.25 + 16.0) / 12.0;
  EXPECT_TRUE(body.inertia.isApprox(diagonal(across, across, mass * 0.25 / 2.0), 1e-14));
}

TEST(SolidsTest, Box) {
  const BodySpec body = read_solid("shape = \"box\", center = [1, 0, 0], size = [1, 2, 3], density = 2");
  EXPECT_DOUBLE_EQ(body.mass, 12.0);
  EXPECT_EQ(body.com, Vector3d(1.0, 0.0, 0.0));
  EXPECT_TRUE(body.inertia.isApprox(diagonal(4.0 + 9.0, 1.0 + 9.0, 1.0 + 4.0), 1e-14));
}

TEST(SolidsTest, Sphere) {
  const BodySpec body = read_solid("shape = \"sphere\", center = [0, 1, 0], radius = 2, density = 3");
  const double mass = 3.0 * 4.0 / 3.0 * std::numbers::pi * 8.0;
  EXPECT_DOUBLE_EQ(body.mass, mass);
  EXPECT_EQ(body.com, Vector3d(0.0, 1.0, 0.0));
  EXPECT_TRUE(body.inertia.isApprox(0.4 * mass * 4.0 * Matrix3d::Identity(), 1e-14));
}

TEST(SolidsTest, PointHasNoInertia) {
  const BodySpec body = read_solid("shape = \"point\", at = [0, 0, 2], mass = 3");
  EXPECT_EQ(body.mass, 3.0);
  EXPECT_EQ(body.com, Vector3d(0.0, 0.0, 2.0));
  EXPECT_TRUE(body.inertia.isZero(0.0));
}

TEST(SolidsTest, SlantedCylinderIsTheStraightOneTurned) {
  const SolidSpec straight{"cylinder", Vector3d::Zero(), Vector3d(0.0, 0.0, 2.0), Vector3d::Zero(), 0.3};
  const Matrix3d R = (Eigen::AngleAxisd(0.7, Vector3d(1, 2, 3).normalized())).toRotationMatrix();
  SolidSpec slanted = straight;
  slanted.to = R * straight.to;
  const MassProperties a = mass_properties(straight, 5.0);
  const MassProperties b = mass_properties(slanted, 5.0);
  EXPECT_TRUE(b.com.isApprox(R * a.com, 1e-14));
  EXPECT_TRUE(b.inertia.isApprox(R * a.inertia * R.transpose(), 1e-14));
}

TEST(SolidsTest, SolidWithoutMassIsForTheDrawing) {
  const BodySpec body =
      read_model_text(
          "linkwork = 1\n[[body]]\nname = \"a\"\nmass = 2\ncom = [1, 0, 0]\ninertia = [2, 2, 3, 0.1, 0.2, 0.3]\n"
          "solid = { shape = \"sphere\", radius = 1 }\n",
          "model.toml")
          .bodies[0];
  EXPECT_EQ(body.mass, 2.0);
  EXPECT_EQ(body.com, Vector3d(1.0, 0.0, 0.0));
  Matrix3d inertia;
  inertia << 2.0, 0.1, 0.2, 0.1, 2.0, 0.3, 0.2, 0.3, 3.0;
  EXPECT_EQ(body.inertia, inertia);
  EXPECT_EQ(body.solid->radius, 1.0);
}

TEST(SolidsTest, InertiaOfAnyCloudOfPointsIsAccepted) {
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 200; ++trial) {
    Matrix3d inertia = Matrix3d::Zero();
    const int points = 1 + trial % 5;  // one and two points give inertias on the boundary of what is possible
    for (int i = 0; i < points; ++i) {
      const Vector3d p(normal(generator), normal(generator), trial % 2 == 0 ? 0.0 : normal(generator));
      inertia += p.squaredNorm() * Matrix3d::Identity() - p * p.transpose();
    }
    EXPECT_NO_THROW(check_inertia(inertia, {})) << inertia;
  }
}

}  // namespace
}  // namespace linkwork
