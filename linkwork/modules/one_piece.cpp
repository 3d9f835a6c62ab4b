#include "linkwork/modules/one_piece.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "linkwork/formulations/catalog.h"
#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

OnePiece::OnePiece(const Model& model, const std::vector<std::string>& columns)
    : model_(model),
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
  state_.q = Eigen::Map<const VecX<double>>(model.start_q.data(), model.tree.nq);
  state_.v = Eigen::Map<const VecX<double>>(model.start_v.data(), model.tree.nv);
}

double OnePiece::difference(std::span<const double> row) {
  state_.t = row[0];
  for (const Coordinate& q : q_) state_.q[q.index] = row[q.column];
  for (const Coordinate& v : v_) state_.v[v.index] = row[v.column];
  if (!equations_.evaluate(state_, rates_).ok()) return std::numeric_limits<double>::quiet_NaN();
  double largest = 1.0, difference = 0.0;
  for (const Coordinate& a : a_) {
    largest = std::max(largest, std::abs(rates_.vdot[a.index]));
    difference = std::max(difference, std::abs(rates_.vdot[a.index] - row[a.column]));
  }
  return difference / largest;
}

}  // namespace linkwork
