#pragma once

#include "linkwork/model/binding.h"
#include "linkwork/model/topology.h"

namespace linkwork {

// The parts of build_model(), in their order.

/// Bodies, joints, and the tree of nodes that carries them.
void build_tree(const Topology& topology, const Binding& binding, Model& model);
/// Events, after everything they refer to.
void build_events(const Binding& binding, Model& model);

/// The rotation that brings a joint's or closure's own axes (z, or x and y) to where the user's axis vectors point.
Mat3<double> axes_rotation(bool has_axis, const Vec3<double>& axis, const std::optional<Vec3<double>>& axis2);

}  // namespace linkwork
