#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "linkwork/model/keys.h"
#include "linkwork/spatial/pose.h"

namespace linkwork {

struct BoundExpression;
struct NodeFrame;
struct Sensor;

/// What a sensor can see of a mechanism at an instant.
class Observation {
 public:
  virtual ~Observation() = default;
  /// In the world.
  virtual Pose<double> pose(const NodeFrame& frame) const = 0;
  /// Of the frame's origin, world axes.
  virtual Vec3<double> velocity(const NodeFrame& frame) const = 0;
  virtual double value(const BoundExpression& expression) const = 0;
  /// In the frame's own axes.
  virtual Vec3<double> angular_velocity(const NodeFrame& frame) const = 0;
  /// What an accelerometer at the frame's origin shows, in its axes: its acceleration less that of free fall.
  virtual Vec3<double> specific_force(const NodeFrame& frame) const = 0;
};

/// A type of [[sensor]]: output columns "<prefix>.<sensor>" or "<prefix>.<sensor>.<component>", which expressions can use too, by
/// the same names.
struct SensorKind {
  static constexpr std::size_t kMostComponents = 8;

  std::string_view name;
  std::string_view summary;
  std::string_view prefix;
  std::vector<std::string> components;  // {""}: a single number
  std::vector<KindKey<SensorSpec>> keys;
  void (*read)(const Sensor&, const Observation&, std::span<double> values);
  std::string_view rate_prefix = "";  // "pv": of the components' rates, in expressions only
  void (*read_rates)(const Sensor&, const Observation&, std::span<double> rates) = nullptr;
  bool is_drawn = false;                // where its frame is
  bool is_expression = false;           // just that: expressions that use it have it put in
  std::vector<std::string> units = {};  // by component; none: not known
  bool is_output_only = false;          // it shows accelerations, which expressions that act on the motion cannot use
};

// In files of their own.
SensorKind point_sensor();
SensorKind body_sensor();
SensorKind expression_sensor();
SensorKind distance_sensor();
SensorKind imu_sensor();

}  // namespace linkwork
