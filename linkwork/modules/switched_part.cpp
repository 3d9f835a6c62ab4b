#include "linkwork/modules/switched_part.h"

#include <array>
#include <cmath>

#include "linkwork/model/joint_state.h"

namespace linkwork {

SwitchedPart::SwitchedPart(const Model& model, EquationsOfMotion& equations, std::vector<int> left_out)
    : model_(model), equations_(equations), left_out_(std::move(left_out)), modes_(model), sharing_(model) {
  for (const int row : left_out_) modes_.rows[static_cast<std::size_t>(row)] = 0;
  equations_.set_modes(modes_);
}

void SwitchedPart::take_modes(const SharedModes& shared) {
  if (!places_) {
    places_ = shared.places_of(model_);
    for (const int row : left_out_) places_->rows[static_cast<std::size_t>(row)] = -1;
  }
  shared.read(*places_, modes_, equations_.system());
  equations_.set_modes(modes_);
  loaded_.clear();
  for (std::size_t k = 0; k < model_.frictions.size(); ++k)
    if (model_.frictions[k].normal_row >= 0 && modes_.friction[k].kind == Modes::Friction::Kind::kSlip) loaded_.push_back(k);
  found_.resize(loaded_.size());
}

std::vector<double> SwitchedPart::joint_values() {
  std::vector<double> values;
  for (const Joint& joint : model_.joints) {
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    equations_.system().joint_motion(joint, {}, q, v, a);
    values.insert(values.end(), q.begin(), q.begin() + joint.kind->nq());
    values.insert(values.end(), v.begin(), v.begin() + joint.kind->nv());
  }
  for (std::size_t k = 0; k < model_.states.size(); ++k) values.push_back(equations_.system().user_state(static_cast<int>(k)));
  return values;
}

void SwitchedPart::jump(std::span<const double> joint_values, bool positions, VecX<double>& x) const {
  if (jump_) return jump_(joint_values, positions, x);
  write_joints(model_, joint_values, positions ? x.data() : nullptr, x.data() + model_.tree.nq);
}

void SwitchedPart::loads(std::span<double> to) const {
  for (std::size_t i = 0; i < loaded_.size(); ++i) to[i] = equations_.system().load(loaded_[i]);
}

void SwitchedPart::set_loads(std::span<const double> from) {
  for (std::size_t i = 0; i < loaded_.size(); ++i) equations_.system().set_load(loaded_[i], from[i]);
}

void SwitchedPart::find(VecX<double> lambda, const std::vector<char>& dependent) {
  sharing_.share(equations_.system(), dependent, lambda);
  for (std::size_t i = 0; i < loaded_.size(); ++i) {
    const DryFriction& friction = model_.frictions[loaded_[i]];
    const double normal = friction.side * lambda[friction.normal_row];
    found_[i] = friction.one_sided ? normal : std::abs(normal);
  }
}

}  // namespace linkwork
