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
  const auto add = [&](const std::string& name, int index, std::vector<Coordinate>& to) {
    if (const auto found = column_of.find(name); found != column_of.end()) to.push_back({found->second, index});
  };
  for (const Joint& joint : model.joints) {
    for (std::size_t k = 0; k < joint.q.size(); ++k) add("q." + coordinate_name(joint, joint.kind->positions[k]), joint.q[k], q_);
    for (std::size_t k = 0; k < joint.v.size(); ++k) {
      add("v." + coordinate_name(joint, joint.kind->velocities[k]), joint.v[k], v_);
      add("a." + coordinate_name(joint, joint.kind->velocities[k]), joint.v[k], a_);
    }
  }
  state_.z = VecX<double>::Zero(std::ssize(model.states));
  for (std::size_t k = 0; k < model.states.size(); ++k) {
    state_.z[static_cast<Eigen::Index>(k)] = model.states[k].start;
    add("z." + model.states[k].name, static_cast<int>(k), z_);
  }
  state_.q = Eigen::Map<const VecX<double>>(model.start_q.data(), model.tree.nq);
  state_.v = Eigen::Map<const VecX<double>>(model.start_v.data(), model.tree.nv);
}

double OnePiece::difference(std::span<const double> row) {
  state_.t = row[0];
  for (const Coordinate& q : q_) state_.q[q.index] = row[q.column];
  for (const Coordinate& v : v_) state_.v[v.index] = row[v.column];
  for (const Coordinate& z : z_) state_.z[z.index] = row[z.column];
  if (!equations_.evaluate(state_, rates_).ok()) return std::numeric_limits<double>::quiet_NaN();
  double largest = 1.0, difference = 0.0;
  for (const Coordinate& a : a_) {
    largest = std::max(largest, std::abs(rates_.vdot[a.index]));
    const double own = std::abs(rates_.vdot[a.index] - row[a.column]);
    if (own > difference) difference = own, worst_ = a.column;
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
