#pragma once

#include <string>

namespace linkwork {

struct BoundExpression;
class DifferentialEquation;
struct Model;
struct Moment;
struct State;
class System;

// In words, for messages; empty if everything is a finite number.

/// The first position, velocity, or state of the user's own that is not.
std::string not_finite_state(const Model& model, const State& state);

/// Of what was last evaluated, from causes to effects: forces that have no expression, or that act at a place so far away that
/// their moment has no number; bodies, constraints, sums of forces.
std::string not_finite_effect(const System& system);

/// ": " and the first thing of a mechanism in one piece that is not finite: of what was last evaluated, or of a state.
std::string because_not_finite(DifferentialEquation& equations);
std::string because_not_finite(DifferentialEquation& equations, const Moment& at);

/// The force that an expression belongs to, by its position in Model::forces; -1: it is none's.
int force_of(const Model& model, const BoundExpression& law);

}  // namespace linkwork
