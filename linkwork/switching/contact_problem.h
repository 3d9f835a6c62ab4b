#pragma once

#include <algorithm>
#include <vector>

#include "linkwork/dynamics/impulse_response.h"
#include "linkwork/linalg/cone_problem.h"

namespace linkwork {

/// Where bodies may part, slide or stick: a contact with its friction, or a friction by itself.
struct ContactPoint {
  int contact = -1;            // in Model::contacts, -1: none
  int friction = -1;           // in Model::frictions, -1: none
  double slides = 0.0;         // how fast it slides, if it does; its friction is then a share of the normal force
  Eigen::Vector2d along = {};  // in which direction, then
  double load = 0.0;           // of friction that has no row for it
  bool gives_way = false;      // its normal force, or its friction, has just come to its limit: in doubt it goes beyond
  bool lets_go = false;
  bool is_closing = false;  // impacts: it strikes, and returns with `restitution`
  double restitution = 0.0;
  bool poisson = false;  // restitution of impulse, whether it strikes or is struck; else of speed
  double given = 0.0;    // impulse that presses, where it is known: `is_given`
  bool is_given = false;
};

/// All contacts and frictions of an instant as one problem: forces within their cones, and relative accelerations of the points,
/// m = W f + c, that go together (linalg/cone_problem.h). The other constraints in force are eliminated by the usual elimination:
/// a column of W is the answer of all points to a unit force at one of them. The same with impulses and velocities for impacts.
/// Points that slide have no force of their own across: their friction is part of the column of their normal force, and W is then
/// not symmetric.
class ContactProblem {
 public:
  using State = ConeProblem::State;

  explicit ContactProblem(const Model& model);

  /// Takes the points at the state of a system just updated. Modes: as in force, apart from the points.
  void assemble(const System& system, const Modes& modes, std::vector<ContactPoint> points);
  const std::vector<ContactPoint>& points() const { return points_; }
  /// The given modes without any of the points.
  const Modes& without_points() const { return base_; }

  /// Forces. vdot and lambda: without the points. Returns whether forces and accelerations that go together were found.
  bool solve_forces(const VecX<double>& vdot, const VecX<double>& lambda);
  /// Impulses. By Newton's law the speeds of points that close return with their restitution. By Poisson's law impulses do: all
  /// points are compressed until none closes, return the share of their impulses, and are held where they would then close.
  bool solve_impulses();

  State found(std::size_t point) const { return found_[point]; }
  /// Of sliding that begins or goes on.
  Eigen::Vector2d direction(std::size_t point) const { return direction_[point]; }
  /// What the forces found do: the change of accelerations (or velocities) and multipliers of all rows.
  const VecX<double>& response() const { return response_; }
  const VecX<double>& multipliers() const { return multipliers_; }
  /// Work of the impulses at a point.
  double work(std::size_t point) const { return work_[point]; }
  /// A contact that slides and whose friction pulls it in more than its normal force keeps it off (Painleve): the point whose
  /// equations have no solution by themselves, or -1.
  int jammed() const;
  /// A point whose contact could open or stay, by the same reason; -1 if there is none.
  int ambiguous() const;

  /// Which distributions of the points' forces have no effect, and which rows have none by themselves.
  void find_redundancy();
  bool is_redundant() const { return null_.cols() > 0 || std::ranges::count(vanishing_, 1) > 0; }
  /// By row of the model: no force on it has an effect.
  const std::vector<char>& vanishing() const { return vanishing_; }
  /// A bound of how fast a unit of force on a row speeds it up, other constraints left out.
  double mobility(const System& system, int row);
  /// How the point would slide without the forces.
  Eigen::Vector2d free_motion(std::size_t point) const;
  /// Takes forces of the points from lambda, and puts back the distribution of the same effect that lies in the cones if there is
  /// one. Least norm, if that does. Forces without an effect are left to the other constraints.
  void share(VecX<double>& lambda);

 private:
  struct Line {  // of the problem
    int row;
    double sign;
    std::size_t point;
  };

  bool solve(VecX<double> c, double size, const VecX<double>& lambda, bool impulses, bool doubts = false);
  bool is_in_doubt() const;
  bool vanishes(Eigen::Index line) const;
  bool restitute(const VecX<double>& c, double size);
  void respond_to(const VecX<double>& force);
  void set_cones(const std::vector<double>& limits);
  void respond(const Modes& modes, MatX<double>& to);
  const DryFriction* friction(const ContactPoint& point) const;

  const Model& model_;
  System system_;
  ImpulseResponse answers_;
  ConeProblem cones_problem_;
  Modes base_, all_;
  std::vector<ContactPoint> points_;
  std::vector<int> first_line_;  // by point
  std::vector<Line> lines_;
  std::vector<Cone> cones_;
  std::vector<std::size_t> cone_of_;  // by point: its first
  MatX<double> A_, T_, R_, bilateral_, W_, G_, null_;
  VecX<double> b_, rate_, no_change_, scale_, force_, motion_, free_, response_, multipliers_, change_, impulse_;
  VecX<double> known_;  // accelerations by friction that slides and does not depend on the normal force
  std::vector<State> found_;
  std::vector<Eigen::Vector2d> direction_;
  std::vector<double> work_;
  std::vector<char> vanishing_;  // by row of the model
  std::vector<char> idle_;       // by line
};

}  // namespace linkwork
