#include "linkwork/drawing/painting_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

namespace linkwork {
namespace {

using Point = Vec3<double>;
using Corners = std::vector<Point>;

constexpr double kIgnored = 0.01;   // square pixels, or pixels of a line, that nobody sees
constexpr double kSeen = 0.3;       // what is worth a cut
constexpr double kTouching = 1e-6;  // of all depths: two faces are in one plane
constexpr int kGridCells = 64;      // of the grid by which neighbours are found, each way

/// a x + b y + c over the picture.
struct Linear {
  double a = 0.0, b = 0.0, c = 0.0;
  double at(const Point& p) const { return a * p.x() + b * p.y() + c; }
  Linear operator-(const Linear& other) const { return {a - other.a, b - other.b, c - other.c}; }
  Linear operator-() const { return {-a, -b, -c}; }
  Linear operator-(double value) const { return {a, b, c - value}; }
};

/// Twice the area as it is seen, positive if counter-clockwise (y upwards).
double doubled_area(const Corners& corners) {
  double sum = 0.0;
  for (std::size_t i = 1; i + 1 < corners.size(); ++i) {
    const Point p = corners[i] - corners[0], q = corners[i + 1] - corners[0];
    sum += p.x() * q.y() - p.y() * q.x();
  }
  return sum;
}

/// How much of the picture it takes: an area, or the length of a line.
double extent(const Corners& corners, bool is_line) {
  if (!is_line) return 0.5 * doubled_area(corners);
  double length = 0.0;
  for (const Point& p : corners)
    for (const Point& q : corners) length = std::max(length, std::hypot(p.x() - q.x(), p.y() - q.y()));
  return length;
}

/// The part where f is positive (Sutherland and Hodgman's step).
Corners part_of(const Corners& corners, const Linear& f) {
  Corners kept;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Point& p = corners[i];
    const Point& q = corners[(i + 1) % corners.size()];
    const double fp = f.at(p), fq = f.at(q);
    if (fp >= 0.0) kept.push_back(p);
    if ((fp < 0.0) != (fq < 0.0)) kept.push_back(p + fp / (fp - fq) * (q - p));
  }
  return kept;
}

/// The two ends of a line, of which cutting makes more points.
Corners ends_of(const Corners& corners) {
  if (corners.size() < 3) return corners;
  const auto first = std::ranges::max_element(corners, {}, [&](const Point& p) { return (p - corners.front()).squaredNorm(); });
  const auto second = std::ranges::max_element(corners, {}, [&](const Point& p) { return (p - *first).squaredNorm(); });
  return {*second, *first};
}

struct Face {
  Painted painted;
  Linear depth;  // its inverse, over the picture
  double extent = 0.0, middle = 0.0;
  std::array<double, 4> box{};      // left, right, top, bottom
  std::vector<std::size_t> behind;  // what is to be painted before it,
  std::vector<std::size_t> before;  // and what after it
  std::size_t waits_for = 0;        // how many of `behind` are not yet painted
  bool painted_already = false;

  bool is_line() const { return painted.corners.size() == 2; }
};

/// Nothing if there is nothing to see of it.
std::optional<Face> face_of(Painted painted) {
  Face face;
  Corners& corners = painted.corners;
  const bool line = corners.size() == 2;
  if (corners.size() < 2) return {};
  if (!line && doubled_area(corners) < 0.0) std::ranges::reverse(corners);
  face.extent = extent(corners, line);
  if (!(face.extent > kIgnored)) return {};
  Point middle = Point::Zero(), normal = Point::Zero();
  for (const Point& corner : corners) middle += corner / static_cast<double>(corners.size());
  if (line) {
    const Point along = corners[1] - corners[0];
    const double slope = along.z() / (along.x() * along.x() + along.y() * along.y());
    face.depth = {slope * along.x(), slope * along.y(), 0.0};
  } else {
    for (std::size_t i = 0; i < corners.size(); ++i)
      normal += (corners[i] - middle).cross(corners[(i + 1) % corners.size()] - middle);
    face.depth = {-normal.x() / normal.z(), -normal.y() / normal.z(), 0.0};
  }
  face.depth.c = middle.z() - face.depth.at(middle);
  face.middle = middle.z();
  const auto [left, right] = std::ranges::minmax(corners, {}, [](const Point& p) { return p.x(); });
  const auto [top, bottom] = std::ranges::minmax(corners, {}, [](const Point& p) { return p.y(); });
  face.box = {left.x(), right.x(), top.y(), bottom.y()};
  face.painted = std::move(painted);
  return face;
}

enum class Relation { kNone, kBehind, kBefore, kHidden, kCut };

class Ordering {
 public:
  explicit Ordering(std::vector<Painted> all) {
    std::vector<Face> faces;
    for (Painted& painted : all)
      if (std::optional<Face> face = face_of(std::move(painted))) faces.push_back(std::move(*face));
    find_bounds(faces);
    // Large ones first: what is cut by them is small. Lines cut nothing.
    std::ranges::stable_sort(
        faces, [](const Face& a, const Face& b) { return a.is_line() != b.is_line() ? b.is_line() : a.extent > b.extent; });
    most_ = 20 * faces.size() + 1000;
    for (Face& face : faces) insert(std::move(face));
  }

  std::vector<Painted> painted() {
    std::vector<Painted> result;
    std::size_t left = faces_.size();
    for (std::size_t i = 0; i < faces_.size(); ++i)
      if (faces_[i].waits_for == 0) ready(i);
    while (left > 0) {
      if (ready_.empty()) left += break_circle();
      const std::size_t next = ready_.top().second;
      ready_.pop();
      if (faces_[next].painted_already) continue;
      faces_[next].painted_already = true;
      --left;
      for (const std::size_t other : faces_[next].before)
        if (--faces_[other].waits_for == 0) ready(other);
      if (!faces_[next].painted.corners.empty()) result.push_back(std::move(faces_[next].painted));
    }
    return result;
  }

 private:
  void find_bounds(const std::vector<Face>& faces) {
    double nearest = -std::numeric_limits<double>::infinity(), farthest = -nearest;
    bounds_ = {farthest, nearest, farthest, nearest};
    for (const Face& face : faces) {
      for (const std::size_t low : {0u, 2u}) {
        bounds_[low] = std::min(bounds_[low], face.box[low]);
        bounds_[low + 1] = std::max(bounds_[low + 1], face.box[low + 1]);
      }
      for (const Point& corner : face.painted.corners) {
        nearest = std::max(nearest, corner.z());
        farthest = std::min(farthest, corner.z());
      }
    }
    touching_ = kTouching * (nearest - farthest);
  }

  /// Where a face is as compared with another. Hidden: the other covers all of it.
  Relation relation(const Face& face, const Face& other) const {
    if (face.is_line() && other.is_line()) return Relation::kNone;
    if (other.is_line()) {
      const Relation turned = relation(other, face);
      return turned == Relation::kBehind   ? Relation::kBefore
             : turned == Relation::kBefore ? Relation::kBehind
             : turned == Relation::kHidden ? Relation::kBefore
                                           : turned;
    }
    for (const std::size_t low : {0u, 2u})
      if (face.box[low] >= other.box[low + 1] || other.box[low] >= face.box[low + 1]) return Relation::kNone;
    Corners both = face.painted.corners;
    const Corners& window = other.painted.corners;
    for (std::size_t i = 0; i < window.size() && !both.empty(); ++i) {
      const Point& p = window[i];
      const Point along = window[(i + 1) % window.size()] - p;
      both = part_of(both, {-along.y(), along.x(), along.y() * p.x() - along.x() * p.y()});
    }
    const bool line = face.is_line();
    if (!(extent(both, line) > kIgnored)) return Relation::kNone;
    const Linear nearer = face.depth - other.depth;
    const double before = extent(part_of(both, nearer - touching_), line);
    const double behind = extent(part_of(both, -nearer - touching_), line);
    if (std::min(before, behind) > kSeen) return Relation::kCut;
    if (before > behind) return Relation::kBefore;
    if (behind == 0.0) return Relation::kNone;
    return other.painted.opaque && behind > 0.999 * face.extent ? Relation::kHidden : Relation::kBehind;
  }

  /// The parts before and behind the other's plane.
  static std::vector<Face> cut(const Face& face, const Face& other) {
    const Linear nearer = face.depth - other.depth;
    std::vector<Face> parts;
    for (const Linear& side : {nearer, -nearer}) {
      Corners corners = part_of(face.painted.corners, side);
      if (face.is_line()) corners = ends_of(corners);
      if (std::optional<Face> part = face_of({std::move(corners), face.painted.style, face.painted.opaque}))
        parts.push_back(std::move(*part));
    }
    return parts;
  }

  /// Adds a face, or its parts where those that are there already cut it.
  void insert(Face whole) {
    std::vector<Face> waiting;
    waiting.push_back(std::move(whole));
    while (!waiting.empty()) {
      Face face = std::move(waiting.back());
      waiting.pop_back();
      bool hidden = false;
      std::optional<std::size_t> cutting;
      for (const std::size_t other : neighbours(face)) {
        const Relation found = relation(face, faces_[other]);
        if (found == Relation::kHidden) hidden = true;
        if (found == Relation::kBehind) face.before.push_back(other);
        if (found == Relation::kBefore) face.behind.push_back(other);
        if (found == Relation::kCut && !cutting) cutting = other;
      }
      if (hidden) continue;
      if (cutting && faces_.size() + waiting.size() < most_) {
        for (Face& part : cut(face, faces_[*cutting])) waiting.push_back(std::move(part));
        continue;
      }
      accept(std::move(face));
    }
  }

  std::size_t accept(Face face) {
    const std::size_t index = faces_.size();
    for (const std::size_t other : face.before) faces_[other].behind.push_back(index), ++faces_[other].waits_for;
    for (const std::size_t other : face.behind) faces_[other].before.push_back(index);
    face.waits_for = face.behind.size();
    for_cells(face, [&](std::vector<std::size_t>& cell) { cell.push_back(index); });
    faces_.push_back(std::move(face));
    seen_.push_back(0);
    return index;
  }

  template <class Take>
  void for_cells(const Face& face, const Take& take) {
    const auto cell = [&](std::size_t side) {
      const std::size_t low = side & 2U;
      const double size = std::max(bounds_[low + 1] - bounds_[low], 1e-9);
      return static_cast<int>(std::clamp((face.box[side] - bounds_[low]) / size * kGridCells, 0.0, kGridCells - 1.0));
    };
    for (int y = cell(2); y <= cell(3); ++y)
      for (int x = cell(0); x <= cell(1); ++x) take(cells_[static_cast<std::size_t>(y * kGridCells + x)]);
  }

  std::vector<std::size_t> neighbours(const Face& face) {
    std::vector<std::size_t> found;
    ++search_;
    for_cells(face, [&](const std::vector<std::size_t>& cell) {
      for (const std::size_t other : cell)
        if (std::exchange(seen_[other], search_) != search_) found.push_back(other);
    });
    return found;
  }

  void ready(std::size_t face) { ready_.emplace(-faces_[face].middle, face); }

  /// Some faces wait for one another: one is cut by the plane of another. How many more there are then.
  std::size_t break_circle() {
    const std::vector<std::size_t> circle = find_circle();
    for (const std::size_t face : circle)
      for (const std::size_t other : circle) {
        if (face == other || faces_[other].is_line() || faces_.size() > 2 * most_) continue;
        std::vector<Face> parts = cut(faces_[face], faces_[other]);
        if (parts.size() < 2 || std::min(parts[0].extent, parts[1].extent) < kSeen) continue;
        for (Face& part : parts) replace_by(face, std::move(part));
        faces_[face].painted.corners.clear();
        faces_[face].waits_for = 0;
        ready(face);
        return parts.size();
      }
    ready(*std::ranges::min_element(circle, {}, [&](std::size_t face) { return faces_[face].middle; }));
    return 0;
  }

  /// A part keeps those neighbours of the whole that it overlaps itself.
  void replace_by(std::size_t whole, Face part) {
    for (const std::size_t other : faces_[whole].behind)
      if (!faces_[other].painted_already && relation(part, faces_[other]) != Relation::kNone) part.behind.push_back(other);
    for (const std::size_t other : faces_[whole].before)
      if (!faces_[other].painted_already && relation(part, faces_[other]) != Relation::kNone) part.before.push_back(other);
    if (const std::size_t index = accept(std::move(part)); faces_[index].waits_for == 0) ready(index);
  }

  std::vector<std::size_t> find_circle() const {
    std::size_t at = 0;
    while (faces_[at].painted_already) ++at;
    std::vector<std::size_t> way;
    for (;;) {
      const auto met = std::ranges::find(way, at);
      if (met != way.end()) return {met, way.end()};
      way.push_back(at);
      const auto& behind = faces_[at].behind;
      const auto next = std::ranges::find_if(behind, [&](std::size_t other) { return !faces_[other].painted_already; });
      if (next == behind.end()) return {at};
      at = *next;
    }
  }

  std::array<double, 4> bounds_{};
  double touching_ = 0.0;
  std::size_t most_ = 0;
  std::vector<Face> faces_;
  std::vector<std::vector<std::size_t>> cells_ = std::vector<std::vector<std::size_t>>(kGridCells * kGridCells);
  std::vector<unsigned> seen_;  // in which search a face was found last
  unsigned search_ = 0;
  std::priority_queue<std::pair<double, std::size_t>> ready_;  // the farthest first
};

}  // namespace

std::vector<Painted> painting_order(std::vector<Painted> all) { return Ordering(std::move(all)).painted(); }

}  // namespace linkwork
