#include "linkwork/dynamics/names.h"

namespace linkwork {

ModelNames::ModelNames(const Model& model) {
  for (const Body& body : model.bodies) bodies.add(body.name, &body);
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    joints.add(joint.name, j);
    const auto add = [&](const std::vector<std::string>& components, NameIndex<Coordinate>& to) {
      for (std::size_t k = 0; k < components.size(); ++k)
        to.add(coordinate_name(joint, components[k]), {JointIndex(j), static_cast<int>(k)});
    };
    add(joint.kind->positions, positions);
    add(joint.kind->velocities, velocities);
  }
  for (std::size_t c = 0; c < model.frame_closures.size(); ++c) closures.add(model.frame_closures[c].name, c);
  for (std::size_t k = 0; k < model.inputs.size(); ++k) inputs.add(model.inputs[k].name, static_cast<int>(k));
  for (std::size_t k = 0; k < model.states.size(); ++k) states.add(model.states[k].name, static_cast<int>(k));
}

Eigen::Isometry3d SystemKinematics::pose(std::string_view name) const {
  const Body& body = *names_.bodies.at(name);
  const Pose<double> X = system_.X_WN(body.node) * body.X_NB;
  Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
  pose.linear() = X.R;
  pose.translation() = X.p;
  return pose;
}

BodyTwist SystemKinematics::twist(std::string_view name) const {
  const Body& body = *names_.bodies.at(name);
  if (body.node == 0) return {};
  const NodeWork<double>& node = system_.work()[body.node];
  const Mat3<double>& R = system_.X_WN(body.node).R;
  return {R * node.w, R * (node.v + node.w.cross(body.X_NB.p))};
}

}  // namespace linkwork
