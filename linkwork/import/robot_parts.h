#pragma once

#include <map>
#include <string>
#include <vector>

#include "linkwork/import/import_notes.h"
#include "linkwork/model/spec.h"
#include "linkwork/spatial/pose.h"

// What the readers of robot files have in common. They write joints that do not move as welds between bodies of their own; in the
// end every set of bodies that are welded together becomes one.

namespace linkwork {

/// Roll, pitch, yaw: about the fixed axes x, then y, then z.
Mat3<double> rpy_rotation(const Vec3<double>& rpy);
/// Of any length but zero.
Mat3<double> quaternion_rotation(const Eigen::Vector4d& wxyz);

FrameSpec frame_on(const std::string& body, const Pose<double>& X, const Place& place);
Pose<double> pose_of(const FrameSpec& frame);

/// The nearest name a model may have: without dots and control characters; a body cannot be called "ground".
std::string allowed_name(const std::string& name);
std::string allowed_body_name(const std::string& name);

/// "u.motor", quoted if the name needs it.
std::string variable(const std::string& prefix, const std::string& name);
/// An expression of time, state and signals.
Expression expression(const std::string& text, const Place& place);
/// An input that drives a coordinate: force = gain * u.
void add_motor(Spec& spec, const std::string& input, const std::string& joint, double gain, const Place& place);
bool turns(const JointSpec& joint);
/// Of a force-torque sensor in a joint it says which columns are the same; others it lists as ignored.
void note_joint_sensor(const XmlElement& sensor, const JointSpec& joint, ImportNotes& notes);
/// The sum of coefficients times joint coordinates is the offset. One joint alone is held.
ClosureSpec gear(const std::string& name, const std::vector<std::string>& joints, const std::vector<double>& coefficients,
                 double offset, const Place& place);
/// The name, or with a number behind it if it is taken by a joint or closure.
std::string free_constraint_name(const Spec& spec, const std::string& name);

/// A homogeneous body: mass, and inertia about its centre in its own axes.
struct ShapeMass {
  double volume = 0.0;
  Vec3<double> com = Vec3<double>::Zero();
  Mat3<double> unit_inertia = Mat3<double>::Zero();  // for a mass of 1
};
/// box (edges in size), cylinder and capsule (along z), sphere, ellipsoid (half axes in size)
ShapeMass shape_mass(const VisualSpec& shape);

/// Adds a part with a mass, its centre at X.p and its inertia about that centre in the axes of X, to the body it belongs to.
void add_part(BodySpec& body, double mass, const Pose<double>& X, const Mat3<double>& inertia);

/// Poses of all bodies in the frame of the ground, with all joints at zero; bodies that hang on nothing are at the ground's
/// origin.
std::map<std::string, Pose<double>> written_poses(const Spec& spec);

/// The last steps of every reader: makes bodies that are welded together one, says what is doubtful, checks the model.
void finish_import(Spec& spec, ImportNotes& notes);

}  // namespace linkwork
