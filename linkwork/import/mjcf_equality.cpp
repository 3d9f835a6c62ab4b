#include <fmt/format.h>

#include <algorithm>

#include "linkwork/import/mjcf.h"

namespace linkwork {
namespace {

using P = Pose<double>;

class EqualityReader {
 public:
  EqualityReader(const MjcfNames& names, std::map<std::string, MjcfTendon> tendons, const ImportContext& context, Spec& spec)
      : names_(names), tendons_(std::move(tendons)), context_(context), spec_(spec) {}

  void read(const XmlElement& section) {
    for (const XmlElement& element : section.children) {
      for (const char* soft : {"solref", "solimp", "class", "torquescale"}) element.get(soft);
      if (!element.boolean("active").value_or(true)) {
        element.use_all();
        context_.notes.ignore(fmt::format("<{}> that is not active", element.name), element.place());
      } else if (element.name == "connect" || element.name == "weld") {
        element.used = true;
        join(element);
      } else if (element.name == "joint") {
        element.used = true;
        couple_joints(element);
      } else if (element.name == "tendon") {
        element.used = true;
        couple_tendons(element);
      }
    }
  }

 private:
  std::string name_of(const XmlElement& element) {
    std::string name = allowed_name(element.get("name", ""));
    if (name.empty()) name = fmt::format("{}{}", element.name, spec_.closures.size() + 1);
    return taken_.free(name);
  }

  P at(const MjcfNames::Frame& frame) const { return names_.at.at(frame.body) * frame.X; }

  /// Between two bodies, closed as they are written; or between two sites.
  void join(const XmlElement& element) {
    ClosureSpec closure;
    closure.name = name_of(element);
    closure.type = element.name == "weld" ? "weld" : "spherical";
    closure.place = element.place();
    MjcfNames::Frame a, b;
    if (element.has("site1") || element.has("site2")) {
      a = names_.site(element.need_text("site1"), element.place());
      b = names_.site(element.need_text("site2"), element.place());
    } else {
      a = names_.body(element.need_text("body1"), element.place());
      b = names_.body(element.get("body2", "world"), element.place());
      if (element.name == "connect") {
        const auto anchor = element.vector("anchor");
        if (!anchor) element.fail("has no 'anchor'", "anchor=\"x y z\" in the frame of body1");
        a.X.p = *anchor;
        b.X = at(b).inverse() * at(a);
      } else {
        element.get("anchor");
        a.X = at(a).inverse() * at(b);
        if (const auto pose = element.numbers("relpose", 7); !pose.empty()) {
          const Eigen::Vector4d turn(pose[3], pose[4], pose[5], pose[6]);
          if (!turn.isZero(0.0)) a.X = {quaternion_rotation(turn), {pose[0], pose[1], pose[2]}};
        }
      }
    }
    closure.a = frame_on(a.body, a.X, element.place());
    closure.b = frame_on(b.body, b.X, element.place());
    if (closure.a.body == closure.b.body) element.fail("joins a body to itself", "two bodies");
    spec_.closures.push_back(std::move(closure));
  }

  /// The length of something in terms of joint coordinates, and what it is as written.
  struct Quantity {
    std::vector<std::string> joints;
    std::vector<double> coefficients;
    double written = 0.0;

    std::string text() const {
      std::string sum;
      for (std::size_t i = 0; i < joints.size(); ++i)
        sum += fmt::format("{}{}*{}", i == 0 ? "" : " + ", coefficients[i], variable("q", joints[i]));
      return sum;
    }
  };

  Quantity joint(const std::string& name, const XmlElement& element) const {
    const MjcfNames::Joint& found = names_.joint(name, element.place());
    if (found.type != "hinge" && found.type != "slide")
      element.fail(fmt::format("couples the {} joint '{}'", found.type, name), "hinges and slides");
    return {{found.name}, {1.0}, found.ref};
  }

  Quantity tendon(const std::string& name, const XmlElement& element) const {
    const auto found = tendons_.find(name);
    if (found == tendons_.end()) element.fail(fmt::format("couples '{}', which is no fixed tendon", name), "a <fixed> tendon");
    return {found->second.joints, found->second.coefficients, found->second.rest};
  }

  void couple_joints(const XmlElement& element) {
    const Quantity y = joint(element.need_text("joint1"), element);
    if (element.has("joint2"))
      couple(element, y, joint(element.need_text("joint2"), element));
    else
      couple(element, y, {});
  }

  void couple_tendons(const XmlElement& element) {
    const Quantity y = tendon(element.need_text("tendon1"), element);
    if (element.has("tendon2"))
      couple(element, y, tendon(element.need_text("tendon2"), element));
    else
      couple(element, y, {});
  }

  /// y - y0 = a0 + a1 (x - x0) + ... + a4 (x - x0)^4, where y0 and x0 are as written; x missing: y - y0 = a0.
  void couple(const XmlElement& element, const Quantity& y, const Quantity& x) {
    std::vector<double> a = element.any_numbers("polycoef");
    if (a.empty()) a = {0.0, 1.0};
    if (a.size() > 5) element.fail(fmt::format("has {} numbers in 'polycoef'", a.size()), "at most 5");
    a.resize(5, 0.0);
    const bool is_linear = x.joints.empty() || (a[2] == 0.0 && a[3] == 0.0 && a[4] == 0.0);
    ClosureSpec closure;
    if (is_linear) {
      std::vector<std::string> joints = y.joints;
      std::vector<double> factors = y.coefficients;
      double offset = y.written + a[0];
      if (!x.joints.empty() && a[1] != 0.0) {
        offset -= a[1] * x.written;
        for (std::size_t i = 0; i < x.joints.size(); ++i)
          joints.push_back(x.joints[i]), factors.push_back(-a[1] * x.coefficients[i]);
      }
      closure = gear(name_of(element), joints, factors, offset, element.place());
    } else {
      closure.name = name_of(element);
      closure.type = "expression";
      closure.place = element.place();
      const std::string dx = fmt::format("({} - ({}))", x.text(), x.written);
      std::string text = fmt::format("{} - ({})", y.text(), y.written + a[0]);
      for (std::size_t k = 1; k < 5; ++k)
        if (a[k] != 0.0) text += fmt::format(" - ({})*{}^{}", a[k], dx, k);
      closure.value = Expression::parse(text, {}, Variables::kTimeAndPositions, element.place());
    }
    spec_.closures.push_back(std::move(closure));
  }

  const MjcfNames& names_;
  std::map<std::string, MjcfTendon> tendons_;
  const ImportContext& context_;
  Spec& spec_;
  ConstraintNames taken_{spec_};
};

}  // namespace

void read_mjcf_equalities(const XmlElement& mujoco, const MjcfNames& names, const ImportContext& context, Spec& spec) {
  EqualityReader reader(names, read_mjcf_tendons(mujoco, names), context, spec);
  for (const XmlElement* section : mujoco.all("equality")) reader.read(*section);
}

}  // namespace linkwork
