#include "linkwork/spatial/so3.h"

#include <gtest/gtest.h>

#include <numbers>

#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using V3 = Vec3<double>;

Mat3<double> about(double angle, const V3& axis) { return Eigen::AngleAxisd(angle, axis).toRotationMatrix(); }

TEST(So3, LogInvertsExpUpToHalfATurn) {
  std::mt19937 random(1);
  for (double angle : {0.0, 1e-12, 1e-6, 0.04, 0.06, 1.0, 2.5, 3.1, 3.14159}) {
    const V3 phi = angle * V3(test::uniform_vector(random, 3)).normalized();
    EXPECT_LT((so3_log(so3_exp(phi)) - phi).norm(), 1e-9 * (1.0 + angle)) << angle;
  }
}

TEST(So3, LogRateAndItsDerivativeAgreeWithFiniteDifferences) {
  std::mt19937 random(2);
  for (double angle : {0.01, 0.049, 0.051, 0.8, 2.0, 3.0}) {
    const Mat3<double> R = so3_exp(angle * V3(test::uniform_vector(random, 3)).normalized());
    const V3 w = test::uniform_vector(random, 3);
    const double h = 1e-5;
    const V3 plus = so3_log(so3_exp(h * w) * R), minus = so3_log(so3_exp(-h * w) * R);
    const V3 rate = so3_log_rate(so3_log(R)) * w;
    EXPECT_LT((rate - (plus - minus) / (2 * h)).norm(), 1e-8) << angle;
    const Mat3<double> Jdot = (so3_log_rate(plus) - so3_log_rate(minus)) / (2 * h);
    EXPECT_LT((so3_log_rate_dot(so3_log(R), rate) - Jdot).norm(), 1e-7) << angle;
  }
}

TEST(So3, ZxzAnglesRebuildTheRotation) {
  std::mt19937 random(3);
  std::vector<Mat3<double>> rotations{Mat3<double>::Identity(), about(std::numbers::pi, V3::UnitX()),
                                      about(std::numbers::pi, V3::UnitY()), about(0.7, V3::UnitZ()),
                                      about(std::numbers::pi / 2, V3::UnitX())};
  for (int i = 0; i < 50; ++i) rotations.push_back(so3_exp(3.0 * V3(test::uniform_vector(random, 3))));
  for (const Mat3<double>& R : rotations) {
    const ZxzAngles a = zxz_angles(R);
    EXPECT_LT((about(a.gamma, V3::UnitZ()) * about(a.alpha, V3::UnitX()) * about(a.theta, V3::UnitZ()) - R).norm(), 1e-14);
  }
}

TEST(So3, RotationFromZTurnsZIntoTheAxis) {
  for (const V3& axis : {V3(0, 0, 1), V3(0, 0, -1), V3(1, 0, 0), V3(0.48, 0.6, 0.64), V3(0.0, 1e-7, -1.0).normalized().eval()}) {
    const Mat3<double> R = rotation_from_z(axis);
    EXPECT_LT((R * V3::UnitZ() - axis).norm(), 1e-14);
    EXPECT_LT((R * R.transpose() - Mat3<double>::Identity()).norm(), 1e-9);
    EXPECT_NEAR(R.determinant(), 1.0, 1e-9);
  }
}

}  // namespace
}  // namespace linkwork
