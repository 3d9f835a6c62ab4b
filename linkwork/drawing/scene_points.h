#pragma once

#include <vector>

#include "linkwork/drawing/drawn_scene.h"

namespace linkwork {

/// By body: joints, closures, springs and sensors, between which it is spanned.
std::vector<std::vector<Vec3<double>>> scene_points(const DrawnScene& scene);
/// The same with the ends of solids and shapes: all that must be seen.
std::vector<std::vector<Vec3<double>>> scene_outline(const DrawnScene& scene);

}  // namespace linkwork
