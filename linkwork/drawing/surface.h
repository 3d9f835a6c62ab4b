#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "linkwork/spatial/vector.h"

namespace linkwork {

/// Plane faces with corners counter-clockwise as seen from outside; each corner has a normal, which faces share where they are to
/// look round.
class Surface {
 public:
  using Point = Vec3<double>;
  struct Corner {
    Point p, n;
  };
  using Face = std::vector<Corner>;  // convex

  std::vector<Face> faces;
  bool two_sided = false;  // as of a mesh, which need not be closed: seen from inside too

  void add(const Surface& other) { faces.insert(faces.end(), other.faces.begin(), other.faces.end()); }
  /// A face with its own normal at all corners.
  void add_flat(const std::vector<Point>& corners);
  Surface moved(const Mat3<double>& R, const Point& p) const;
  Surface scaled(const Point& factors) const;
};

// How round things are: coarse ones for vector pictures.
struct Roundness {
  int around = 24;  // faces around a cylinder
  int along = 1;    // pieces along one
};

Surface tube(const Surface::Point& from, const Surface::Point& to, double radius, const Roundness& round);
Surface ball(const Surface::Point& center, double radius, const Roundness& round);
/// A tube with round ends.
Surface rod(const Surface::Point& from, const Surface::Point& to, double radius, const Roundness& round);
Surface cone(const Surface::Point& from, const Surface::Point& to, double radius_from, double radius_to, const Roundness& round);
Surface box(const Surface::Point& center, const Surface::Point& size);
/// A ring around z at a height.
Surface ring(double radius, double thickness, double height, const Roundness& round);
/// A plate with round corners that covers all the points: a bar if they are two, a disc if one. It lies in the plane of the first
/// point, shifted along the normal.
Surface plate(const std::vector<Surface::Point>& points, const Surface::Point& normal, double radius, double thickness,
              double shift, const Roundness& round);
/// A wire that winds from one point to another.
Surface coil(const Surface::Point& from, const Surface::Point& to, double radius, double wire, const Roundness& round);

/// Axes of which the third is the normal.
Mat3<double> plane_axes(const Surface::Point& normal);

}  // namespace linkwork
