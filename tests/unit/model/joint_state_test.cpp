#include "linkwork/model/joint_state.h"

#include <gtest/gtest.h>

#include "linkwork/dynamics/system.h"
#include "linkwork/tree/kinematics.h"
#include "tests/support/mechanisms.h"
#include "tests/support/random_text.h"

namespace linkwork {
namespace {

/// A body on the ground carries another by a joint whose parent is the carried one.
Model backwards(const std::string& type, unsigned seed) {
  test::Random random(seed);
  return test::model_of(test::body_text(random, "near", 0.5) + test::body_text(random, "far", 0.5) +
                        "[[joint]]\nname = \"base\"\ntype = \"free\"\nparent = " + test::frame_text(random, "ground") +
                        "child = " + test::frame_text(random, "near") + "[[joint]]\nname = \"j\"\ntype = \"" + type +
                        "\"\nparent = " + test::frame_text(random, "far") + "child = " + test::frame_text(random, "near"));
}

TEST(JointState, IsWhatTheJointsValuesWere) {
  for (const char* const type : {"free", "spherical", "revolute"})
    for (unsigned seed = 1; seed <= 5; ++seed) {
      const Model model = backwards(type, seed);
      ASSERT_EQ(model.joints[1].in_state(), std::string(type) == "revolute");
      State state{0.0, VecX<double>::Random(model.tree.nq), VecX<double>::Random(model.tree.nv), 0.0, {}};
      normalize_quaternions(model.tree, state.q.data());
      const VecX<double> vdot = VecX<double>::Random(model.tree.nv);
      System system(model);
      system.update(state);
      update_accelerations(model.tree, vdot.data(), system.work());
      VecX<double> q = VecX<double>::Zero(model.tree.nq), v = VecX<double>::Zero(model.tree.nv), a = v;
      std::vector<double> all;
      for (const Joint& joint : model.joints) {
        JointValues values;
        system.joint_motion(joint, {vdot.data(), static_cast<std::size_t>(vdot.size())}, values.q, values.v, values.a);
        JointPlace(model.tree, joint).write(values, q.data(), v.data(), a.data());
        all.insert(all.end(), values.q.begin(), values.q.begin() + joint.kind->nq());
        all.insert(all.end(), values.v.begin(), values.v.begin() + joint.kind->nv());
      }
      // A quaternion and its negative are the same rotation.
      State found{0.0, q, v, 0.0, {}}, again = found;
      write_joints(model, all, again.q.data(), again.v.data());
      EXPECT_EQ(again.q, q);
      EXPECT_EQ(again.v, v);
      for (int i = 0; i < model.tree.size(); ++i) {
        const Node& node = model.tree.nodes[static_cast<std::size_t>(i)];
        if (node.kind != NodeKind::kFree && node.kind != NodeKind::kSpherical) continue;
        auto turn = found.q.segment<4>(node.q + (node.kind == NodeKind::kFree ? 3 : 0));
        if (turn.dot(state.q.segment<4>(node.q + (node.kind == NodeKind::kFree ? 3 : 0))) < 0.0) turn = -turn;
      }
      EXPECT_LT((found.q - state.q).cwiseAbs().maxCoeff(), 1e-14) << type << ' ' << seed;
      EXPECT_LT((v - state.v).cwiseAbs().maxCoeff(), 1e-14) << type << ' ' << seed;
      EXPECT_LT((a - vdot).cwiseAbs().maxCoeff(), 1e-13) << type << ' ' << seed;
    }
}

}  // namespace
}  // namespace linkwork
