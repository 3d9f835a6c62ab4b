#pragma once

#include <filesystem>
#include <random>
#include <string>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/dynamics/manifold_projection.h"
#include "linkwork/io/model_file.h"
#include "linkwork/model/model.h"

namespace linkwork::test {

/// A model from text, without a file.
Model model_of(const std::string& toml);
Spec spec_of(const std::string& toml);
/// The root of the repository.
std::filesystem::path source_dir();
/// A model of models/, with parameters set.
Spec library_spec(const std::string& name, const std::vector<std::pair<std::string, std::string>>& set = {});
std::vector<std::string> library_models();

/// A uniform number in [-1, 1], the same on every machine.
double uniform(std::mt19937& random);
VecX<double> uniform_vector(std::mt19937& random, int size);

/// Any configuration near `around` and any velocity; constraints are not looked at.
State random_state(const Model& model, const State& around, std::mt19937& random, double spread = 1.0);
/// Where the mechanism is a random time after a random kick: consistent to rounding, also where constraints are redundant.
State random_consistent_state(const Model& model, std::mt19937& random);
State start_state(const Model& model);

double relative_difference(const VecX<double>& a, const VecX<double>& b);

/// A chain of bodies with the given joint types in turn, each with generic frames, axes and inertia; a tree if branch > 0 (every
/// branch-th body hangs on the body before the last).
std::string generic_chain(const std::vector<std::string>& types, bool reversed = false, int branch = 0);
/// Keys of a joint or closure of this type, with a generic axis.
std::string generic_axis(const std::string& type);

}  // namespace linkwork::test
