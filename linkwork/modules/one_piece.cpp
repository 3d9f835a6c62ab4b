#include "linkwork/modules/one_piece.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "linkwork/formulations/catalog.h"
#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

OnePiece::OnePiece(const Model& model, const std::vector<std::string>& columns)
    : model_(model),
      columns_(columns),
      equations_(model, make_chosen(formulations(), Choice{"schur", {}, {}}, "formulation", model),
                 make_chosen(stabilizations(), model.settings.stabilization, "stabilization", model)) {
  std::unordered_map<std::string, std::size_t> column_of;
  for (std::size_t c = 0; c < columns.size(); ++c) column_of[columns[c]] = c;
  for (const Joint& joint : model.joints) {
    if (joint.cut) continue;
    Columns own{JointPlace(model.tree, joint), {}, {}, {}};
    bool found = true;
    const auto find = [&](const char* prefix, const std::string& component, std::vector<std::size_t>& to) {
      const auto place = column_of.find(prefix + coordinate_name(joint, component));
      found = found && place != column_of.end();
      if (found) to.push_back(place->second);
    };
    for (const std::string& component : joint.kind->positions) find("q.", component, own.q);
    for (const std::string& component : joint.kind->velocities) find("v.", component, own.v), find("a.", component, own.a);
    if (found) joints_.push_back(std::move(own));
  }
  state_.z = VecX<double>::Zero(std::ssize(model.states));
  for (std::size_t k = 0; k < model.states.size(); ++k) {
    state_.z[static_cast<Eigen::Index>(k)] = model.states[k].start;
    if (const auto found = column_of.find("z." + model.states[k].name); found != column_of.end())
      states_.emplace_back(static_cast<int>(k), found->second);
  }
  state_.q = Eigen::Map<const VecX<double>>(model.start_q.data(), model.tree.nq);
  state_.v = Eigen::Map<const VecX<double>>(model.start_v.data(), model.tree.nv);
}

double OnePiece::difference(std::span<const double> row) {
  state_.t = row[0];
  vdot_ = VecX<double>::Zero(model_.tree.nv);
  for (const Columns& joint : joints_) {
    JointValues values;
    for (std::size_t k = 0; k < joint.q.size(); ++k) values.q[k] = row[joint.q[k]];
    for (std::size_t k = 0; k < joint.v.size(); ++k) values.v[k] = row[joint.v[k]], values.a[k] = row[joint.a[k]];
    joint.place.write(values, state_.q.data(), state_.v.data(), vdot_.data());
  }
  for (const auto& [index, column] : states_) state_.z[index] = row[column];
  if (!equations_.evaluate(state_, rates_).ok()) return std::numeric_limits<double>::quiet_NaN();
  double largest = 1.0, difference = 0.0;
  for (const Columns& joint : joints_)
    for (std::size_t k = 0; k < joint.a.size(); ++k) {
      const int dof = joint.place.v[k];
      largest = std::max(largest, std::abs(rates_.vdot[dof]));
      const double own = std::abs(rates_.vdot[dof] - vdot_[dof]);
      if (own > difference) difference = own, worst_ = joint.a[k];
    }
  return difference / largest;
}

void OnePiece::follow(System& other) {
  equations_.set_modes(other.modes());
  equations_.system().branches() = other.branches();
  equations_.system().hold_branches(other.holds_branches());
}

namespace {

/// How many rows of a run are compared.
constexpr double kComparedRows = 50.0;
/// How much accelerations that are called exact may differ, and how well a state must meet its constraints for that to count.
constexpr double kNoticeable = 1e-6, kMet = 1e-8;
/// How little may be left of a row (squared, see rank.h) before a position counts as nearly singular.
constexpr double kNearlySingular = 1e-5;

}  // namespace

PieceComparison::PieceComparison(const Model& model, const std::vector<std::string>& columns, bool exact,
                                 std::function<System*()> modes)
    : model_(model), columns_(columns), exact_(exact), modes_(std::move(modes)) {
  begin_anew();
  const double rows = std::ceil(model.settings.end / model.settings.output_every);
  stride_ = std::max(1L, static_cast<long>(rows / kComparedRows));
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].starts_with("error.")) errors_.push_back(c);
}

std::string PieceComparison::object_to(std::span<const double> row) {
  if (rows_++ % stride_ != 0) return {};
  if (System* const whole = modes_ ? modes_() : nullptr) one_piece_->follow(*whole);
  const double difference = one_piece_->difference(row);
  largest_ = std::max(largest_, difference);
  if (!exact_ || !(difference > kNoticeable) || one_piece_->weakest() < kNearlySingular || !meets_constraints(row)) return {};
  return fmt::format(
      "the modules accelerate otherwise than the same system in one piece, by {:.2g} of the largest acceleration ({}); glue "
      "\"none\" solves it in one piece",
      difference, one_piece_->where());
}

bool PieceComparison::meets_constraints(std::span<const double> row) const {
  return std::ranges::all_of(errors_, [&](std::size_t column) { return std::abs(row[column]) <= kMet; });
}

}  // namespace linkwork
