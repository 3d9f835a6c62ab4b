#pragma once

#include <Eigen/Geometry>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "linkwork/front/mechanism.h"
#include "linkwork/io/toml_value.h"

namespace linkwork {

/// The value of a key: a number, a text or expression, true or false, or a list of them.
using Value = TomlValue;
using Keys = std::vector<std::pair<std::string, Value>>;

Value list(const Eigen::Vector3d& vector);
Value list(const std::vector<double>& numbers);
Value list(const std::vector<std::string>& texts);

/// What a body is made of: a solid of uniform mass, which is drawn too, or just numbers.
struct Matter {
  Keys keys;
};
/// A slender rod between two points of the body's frame.
Matter rod(const Eigen::Vector3d& from, const Eigen::Vector3d& to, double mass);
/// A cylinder with its axis between two points.
Matter cylinder(const Eigen::Vector3d& from, const Eigen::Vector3d& to, double radius, double mass);
/// A box with sides along the axes of the body.
Matter box(const Eigen::Vector3d& center, const Eigen::Vector3d& size, double mass);
/// A ball.
Matter sphere(const Eigen::Vector3d& center, double radius, double mass);
/// A mass at a point, without inertia of its own.
Matter point_mass(const Eigen::Vector3d& at, double mass);
/// Mass properties as numbers. The inertia is about the center of mass, in body axes.
Matter mass(double mass, const Eigen::Vector3d& com = Eigen::Vector3d::Zero(),
            const Eigen::Matrix3d& inertia = Eigen::Matrix3d::Zero());

/// A frame fixed to a body: the body's own, or one at a point of it.
class Frame {
 public:
  explicit Frame(std::string body) : body_(std::move(body)) {}
  Frame at(double x, double y, double z) const { return at({x, y, z}); }
  Frame at(const Eigen::Vector3d& point) const;
  Frame turned(const Eigen::Quaterniond& rotation) const;

  const std::string& body() const { return body_; }
  Value value() const;

 private:
  std::string body_;
  Eigen::Vector3d at_ = Eigen::Vector3d::Zero();
  Eigen::Quaterniond rotation_ = Eigen::Quaterniond::Identity();
};

/// Puts a model together in code. It has the tables and keys of a model file: what is not offered as a function here is given by
/// set() or add(). Names, numbers and expressions are checked by build(), in the words of the file reader.
class Builder {
 public:
  explicit Builder(std::string name);

  /// A table of the model, to which keys can be added.
  class Entry {
   public:
    Entry& set(const std::string& key, Value value);

    Entry& axis(const Eigen::Vector3d& direction) { return set("axis", list(direction)); }
    Entry& position(double value) { return set("position", value); }
    Entry& position(const std::vector<double>& values) { return set("position", list(values)); }
    Entry& velocity(double value) { return set("velocity", value); }
    Entry& velocity(const std::vector<double>& values) { return set("velocity", list(values)); }
    /// Assembly of the start keeps this position.
    Entry& fixed() { return set("fixed", true); }
    Entry& cut() { return set("cut", true); }
    Entry& damping(double value) { return set("damping", value); }
    Entry& stiffness(double value, double rest = 0.0) { return set("stiffness", value).set("rest", rest); }
    Entry& limits(double least, double greatest) { return set("limits", list(std::vector{least, greatest})); }
    /// An input of the model, 0 until something sets it, which the expression of this entry uses as u.<name>.
    Entry& input(const std::string& name, Value value = 0.0);

   private:
    friend class Builder;
    Entry(Builder& builder, std::string table, std::size_t index) : builder_(builder), table_(std::move(table)), index_(index) {}
    Builder& builder_;
    std::string table_;
    std::size_t index_;
  };

  /// Any table of a model file: add("joint", {{"name", "theta"}, {"type", "revolute"}, ...}).
  Entry add(const std::string& table, const Keys& keys);
  /// Of [settings]: setting("gravity", list(Vector3d(0, 0, -9.81))), setting("end", 2.0).
  Builder& setting(const std::string& key, Value value);
  /// A number that expressions can use by its name, and that load() and sweeps can change in the written file.
  Builder& parameter(const std::string& name, Value value);

  Frame ground() const { return Frame("ground"); }
  Frame body(const std::string& name, const Matter& matter);

  /// About or along the z axis of the parent's frame, unless axis() says otherwise.
  Entry joint(const std::string& type, const std::string& name, const Frame& parent, const Frame& child);
  Entry revolute(const std::string& name, const Frame& parent, const Frame& child) {
    return joint("revolute", name, parent, child);
  }
  Entry prismatic(const std::string& name, const Frame& parent, const Frame& child) {
    return joint("prismatic", name, parent, child);
  }
  Entry cylindrical(const std::string& name, const Frame& parent, const Frame& child) {
    return joint("cylindrical", name, parent, child);
  }
  Entry screw(const std::string& name, const Frame& parent, const Frame& child, double pitch) {
    return joint("screw", name, parent, child).set("pitch", pitch);
  }
  Entry universal(const std::string& name, const Frame& parent, const Frame& child) {
    return joint("universal", name, parent, child);
  }
  Entry spherical(const std::string& name, const Frame& parent, const Frame& child) {
    return joint("spherical", name, parent, child);
  }
  Entry planar(const std::string& name, const Frame& parent, const Frame& child) { return joint("planar", name, parent, child); }
  Entry translational(const std::string& name, const Frame& parent, const Frame& child) {
    return joint("translational", name, parent, child);
  }
  Entry free(const std::string& name, const Frame& parent, const Frame& child) { return joint("free", name, parent, child); }
  Entry weld(const std::string& name, const Frame& parent, const Frame& child) { return joint("weld", name, parent, child); }

  Entry closure(const std::string& type, const std::string& name, const Frame& a, const Frame& b);
  Entry pin(const std::string& name, const Frame& a, const Frame& b) { return closure("pin", name, a, b); }
  Entry point(const std::string& name, const Frame& a, const Frame& b) { return closure("point", name, a, b); }
  Entry distance(const std::string& name, const Frame& a, const Frame& b, double length) {
    return closure("distance", name, a, b).set("length", length);
  }
  /// sum of coefficient * coordinate = offset.
  Entry gear(const std::string& name, const std::vector<std::string>& joints, const std::vector<double>& coefficients,
             double offset = 0.0);
  /// A joint's coordinate as an expression of time.
  Entry drive(const std::string& name, const std::string& joint, Value value);

  /// Along a joint's coordinate: a number or an expression.
  Entry torque(const std::string& joint, Value value);
  Entry force(const std::string& joint, Value value);
  Entry spring(const Frame& a, const Frame& b, double stiffness, double length, double damping = 0.0);
  Entry damper(const Frame& a, const Frame& b, double damping);
  /// By a function of the program.
  Builder& force(CustomForce force);
  Builder& force(std::function<void(const Kinematics&, Forces&)> apply);

  Entry input(const std::string& name, Value value = 0.0);
  Entry state(const std::string& name, Value rate, double start = 0.0);
  Entry table(const std::string& name, const std::vector<double>& x, const std::vector<double>& y);
  Entry point_sensor(const std::string& name, const Frame& frame);
  Entry sensor(const std::string& name, const std::string& expression);

  /// The model as it stands, checked. Throws InputError with the table and name of what is wrong.
  Mechanism build() const;
  /// The same as a model file; custom forces are not part of it.
  std::string to_toml() const { return linkwork::to_toml(root_); }

 private:
  Document document() const;

  std::string name_;
  TomlValue root_;
  std::vector<CustomForce> forces_;
};

}  // namespace linkwork
