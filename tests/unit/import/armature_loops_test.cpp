#include <gtest/gtest.h>

#include <cmath>

#include "linkwork/io/model_file.h"
#include "tests/support/mechanisms.h"
#include "tests/support/recorded_run.h"

namespace linkwork {
namespace {

using test::RecordedRun;

/// A loop with rotors in its joints moves alike whether it is cut or embedded.
TEST(Armature, InLoopsIsTheSameCutAndEmbedded) {
  for (const char* name : {"four_bar", "spatial_four_bar", "delta"}) {
    Spec spec = test::library_spec(name);
    double rotor = 0.3;
    for (JointSpec& joint : spec.joints)
      if (!joint.cut && (joint.type == "revolute" || joint.type == "prismatic")) joint.armature = rotor *= 0.7;
    spec.settings.end = 0.2;
    spec.settings.coordinates = {"TA", {}, {}};
    const RecordedRun cut(spec);
    spec.settings.coordinates = {"CE", {}, {}};
    const RecordedRun embedded(spec);
    ASSERT_TRUE(cut.summary.completed && embedded.summary.completed) << name;
    for (const std::string& column : cut.columns) {
      if (!column.starts_with("q.") && !column.starts_with("v.") && !column.starts_with("a.")) continue;
      EXPECT_NEAR(cut.last(column), embedded.last(column), 1e-8 * std::max(1.0, std::abs(cut.last(column))))
          << name << ' ' << column;
    }
    spec.settings.coordinates = {"TA", {}, {}};
    for (JointSpec& joint : spec.joints) joint.armature = 0.0;
    EXPECT_GT(std::abs(RecordedRun(spec).last(cut.columns[1]) - cut.last(cut.columns[1])), 1e-6) << "rotors do something";
  }
}

}  // namespace
}  // namespace linkwork
