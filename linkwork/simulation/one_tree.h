#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linkwork/dynamics/state.h"
#include "linkwork/model/model.h"

namespace linkwork {

/// A closure that the tree runs through: it has no rows, and its multipliers are those of the joint's reaction.
struct CarriedClosure {
  std::string name;
  std::size_t joint;   // in the model in one tree
  int before_row;      // of that model: where its rows would be,
  int before_closure;  // and where it would be among those that are no joints
};

/// A model made of modules, in one tree: where a module hangs on a free joint, and something holds it to the rest that could as
/// well be a joint, the tree runs through that instead, and the free joint is cut, which costs nothing. Welds then make one node
/// of two bodies. So the motion costs what it would, had all been written in one file. What is written of the motion stays the
/// same: coordinates of the free joint are read off it, multipliers of what the tree holds are read off the reaction.
///
/// Only where nobody can tell: what is held hangs on nothing else, so that its reaction is unique; nothing refers to the free
/// joint or to what takes its place; nothing comes and goes; and the settings choose nothing that would differ without the rows.
struct OneTree {
  std::shared_ptr<const Model> model;  // null: there is nothing to be gained
  std::vector<CarriedClosure> carried;

  explicit operator bool() const { return model != nullptr; }
  /// Of the closures that are carried.
  int rows() const;
};

/// `model` is made of `spec`.
OneTree in_one_tree(const Spec& spec, const Model& model);

/// A state of `model` in the coordinates of the tree.
State state_in(const OneTree& tree, const Model& model, const State& state);

}  // namespace linkwork
