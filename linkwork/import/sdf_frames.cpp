#include "linkwork/import/sdf_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace linkwork {
namespace {

using P = Pose<double>;
constexpr int kDeepestFrame = 1000;

/// "arm::hand" is 'hand' in 'arm'.
std::pair<std::string, std::string> split(const std::string& name) {
  const std::size_t at = name.find("::");
  if (at == std::string::npos) return {"", name};
  return {name.substr(0, at), name.substr(at + 2)};
}

std::string split_last(const std::string& name) {
  const std::size_t at = name.rfind("::");
  return at == std::string::npos ? name : name.substr(at + 2);
}

}  // namespace

P read_sdf_pose(const XmlElement* pose) {
  if (pose == nullptr) return {};
  const std::vector<double> n = pose->text_numbers();
  const bool degrees = pose->boolean("degrees").value_or(false);
  const bool is_quaternion = pose->get("rotation_format", "euler_rpy") == "quat_xyzw";
  if (n.empty()) return {};
  if (n.size() != (is_quaternion ? 7U : 6U))
    pose->fail(fmt::format("has {} numbers", n.size()), is_quaternion ? "7: x y z qx qy qz qw" : "6: x y z roll pitch yaw");
  for (const double x : n)
    if (!std::isfinite(x)) pose->fail("has a number that is not finite");
  const Vec3<double> p(n[0], n[1], n[2]);
  if (is_quaternion) {
    const Eigen::Vector4d wxyz(n[6], n[3], n[4], n[5]);
    if (wxyz.isZero(0.0)) pose->fail("has a quaternion that is zero");
    return {quaternion_rotation(wxyz), p};
  }
  const double unit = degrees ? std::numbers::pi / 180.0 : 1.0;
  return {rpy_rotation(unit * Vec3<double>(n[3], n[4], n[5])), p};
}

SdfScope::SdfScope(const SdfScope* parent, std::string prefix, const XmlElement& element)
    : parent_(parent), prefix_(std::move(prefix)), element_(&element), is_world_(parent == nullptr) {
  if (is_world_) return;
  const auto add = [&](const std::string& name, Frame frame, const XmlElement& at) {
    if (!frames_.emplace(name, std::move(frame)).second) at.fail("has a name that stands twice", "a name of its own");
  };
  for (const XmlElement* link : element.all("link")) add(link->need_text("name"), {link, "", true}, *link);
  for (const XmlElement* frame : element.all("frame"))
    add(frame->need_text("name"), {frame, frame->get("attached_to", "__model__"), false}, *frame);
  for (const char* tag : {"joint", "drake:joint"})
    for (const XmlElement* joint : element.all(tag)) {
      const XmlElement* const child = joint->find(std::string_view(tag) == "joint" ? "child" : "drake:child");
      if (child == nullptr) joint->fail("has no <child>", "the link it carries");
      add(joint->need_text("name"), {joint, child->text, false}, *joint);
    }
}

void SdfScope::set_prefix(const std::string& prefix) {
  prefix_ = prefix;
  for (const auto& model : models_) model->set_prefix(prefix + model->name_ + "::");
}

SdfScope& SdfScope::add_model(const XmlElement& model, const std::string& name, const XmlElement* pose_holder) {
  for (const auto& other : models_)
    if (other->name_ == name) model.fail(fmt::format("has the name '{}', which stands twice", name), "a name of its own");
  models_.push_back(std::make_unique<SdfScope>(this, prefix_, model));
  models_.back()->name_ = name;
  models_.back()->pose_holder_ = pose_holder;
  if (!is_world_) models_.back()->prefix_ += name + "::";
  return *models_.back();
}

SdfScope::Found SdfScope::find(const std::string& name, const Place& asked_at) const {
  if (name == "__model__" || name.empty()) return {this, nullptr};
  if (name == "world") {
    const SdfScope* root = this;
    while (root->parent_ != nullptr) root = root->parent_;
    return {root, nullptr};
  }
  const auto [head, tail] = split(name);
  if (!head.empty()) {
    for (const auto& model : models_)
      if (model->name_ == head) return model->find(tail, asked_at);
  } else {
    if (const auto found = frames_.find(name); found != frames_.end()) return {this, &found->second};
    for (const auto& model : models_)
      if (model->name_ == name) return {model.get(), nullptr};
  }
  std::vector<std::string> known{"__model__", "world"};
  for (const auto& [one, frame] : frames_) known.push_back(one);
  for (const auto& model : models_) known.push_back(model->name_);
  throw unknown_name(asked_at, "frame", name, known);
}

P SdfScope::model_pose() const {
  if (is_world_) return {};
  const XmlElement* const pose = pose_holder_ == nullptr ? nullptr : pose_holder_->find("pose");
  const P own = read_sdf_pose(pose);
  if (pose == nullptr) return parent_->model_pose() * own;
  const std::string to = pose->get("relative_to").value_or(pose->get("frame", ""));
  if (to.empty() || to == name_) return parent_->model_pose() * own;
  return parent_->pose_in_world(to, pose->place(), 0) * own;
}

P SdfScope::pose(const std::string& name, const Place& asked_at) const { return pose_in_world(name, asked_at, 0); }

P SdfScope::pose_in_world(const std::string& name, const Place& asked_at, int depth) const {
  if (depth > kDeepestFrame)
    throw InputError(asked_at, fmt::format("the frame '{}' is relative to itself, or through more than 1000 others", name),
                     "frames in no circle");
  const auto [scope, frame] = find(name, asked_at);
  if (frame == nullptr) return scope->model_pose();
  if (frame->in_world) return *frame->in_world;
  const XmlElement* const pose = frame->element->find("pose");
  const std::string otherwise = frame->is_link || frame->attached_to == "__model__" ? "__model__" : frame->attached_to;
  std::string to = otherwise;
  if (pose != nullptr) {
    const std::string written = pose->get("relative_to").value_or(pose->get("frame", ""));
    if (!written.empty()) to = written;
  }
  frame->in_world = scope->pose_in_world(to, frame->element->place(), depth + 1) * read_sdf_pose(pose);
  return *frame->in_world;
}

P SdfScope::pose_in(const XmlElement& holder, const std::string& otherwise) const {
  const XmlElement* const pose = holder.find("pose");
  std::string to = otherwise;
  if (pose != nullptr) {
    const std::string written = pose->get("relative_to").value_or(pose->get("frame", ""));
    if (!written.empty()) to = written;
  }
  return this->pose(to, holder.place()) * read_sdf_pose(pose);
}

std::string SdfScope::first_link() const {
  if (const auto canonical = element_->get("canonical_link")) return body(*canonical, element_->place());
  for (const XmlElement* link : element_->all("link")) return allowed_body_name(prefix_ + link->get("name", ""));
  for (const auto& model : models_)
    if (const std::string link = model->first_link(); !link.empty()) return link;
  return "";
}

std::string SdfScope::body(const std::string& name, const Place& asked_at) const { return body(name, asked_at, 0); }

std::string SdfScope::body(const std::string& name, const Place& asked_at, int depth) const {
  if (depth > kDeepestFrame)
    throw InputError(asked_at, fmt::format("the frame '{}' is attached to itself", name), "frames in no circle");
  const auto [scope, frame] = find(name, asked_at);
  if (scope->is_world_) return "ground";
  if (frame == nullptr) return scope->first_link();
  if (frame->is_link) return allowed_body_name(scope->prefix_ + split_last(name));
  return scope->body(frame->attached_to, frame->element->place(), depth + 1);
}

}  // namespace linkwork
