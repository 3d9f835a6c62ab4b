#include "linkwork/switching/contact_problem.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "linkwork/linalg/index.h"

namespace linkwork {

namespace {

/// Motions that are less than this share of their terms come of rounding where no force could change them.
constexpr double kNothing = 1e-7;
/// Likewise those that are less than this share of what weight does, where nothing else moves either: in a mechanism that cannot.
constexpr double kNoWeight = 1e-10;

/// By coordinate. Those that move no inertia of their own (a slender rod about its axis, in FA) only follow others.
VecX<double> inverse_inertias(System& system) {
  constexpr double kNone = 1e-14;
  const VecX<double>& unit = system.model().units.velocity;
  VecX<double> inverse = system.mass_matrix().diagonal();
  const double most = inverse.size() > 0 ? inverse.cwiseProduct(unit.cwiseAbs2()).maxCoeff() : 0.0;
  for (Eigen::Index j = 0; j < inverse.size(); ++j)
    inverse[j] = inverse[j] * unit[j] * unit[j] > kNone * most ? 1.0 / inverse[j] : 0.0;
  return inverse;
}

}  // namespace

ContactProblem::ContactProblem(const Model& model)
    : model_(model),
      system_(model),
      answers_(model),
      base_(model),
      all_(model),
      rate_(VecX<double>::Zero(model.row_count())),
      no_change_(rate_),
      vanishing_(model.rows.size(), 0) {}

const DryFriction* ContactProblem::friction(const ContactPoint& point) const {
  return point.friction < 0 ? nullptr : &model_.frictions[at(point.friction)];
}

void ContactProblem::assemble(const System& system, const Modes& modes, std::vector<ContactPoint> points) {
  points_ = std::move(points);
  base_ = modes;
  all_ = modes;
  lines_.clear();
  first_line_.clear();
  for (std::size_t p = 0; p < points_.size(); ++p) {
    const ContactPoint& point = points_[p];
    first_line_.push_back(static_cast<int>(lines_.size()));
    const auto take = [&](int first, int count, double sign, bool as_lines) {
      for (int r = first; r < first + count; ++r) {
        base_.rows[at(r)] = 0;
        all_.rows[at(r)] = 1;
        if (as_lines) lines_.push_back({r, sign, p});
      }
    };
    if (point.contact >= 0) {
      const Contact& contact = model_.contacts[at(point.contact)];
      take(contact.row, 1, contact.side, true);
      take(contact.row + 1, contact.along, 1.0, true);
    }
    if (const DryFriction* f = friction(point)) {
      take(f->first_row, f->rows, 1.0, point.slides == 0.0);
      base_.friction[at(point.friction)].kind = all_.friction[at(point.friction)].kind = Modes::Friction::Kind::kOff;
    }
  }
  first_line_.push_back(static_cast<int>(lines_.size()));

  system_.set_memory(system.memory());
  system_.set_modes(all_);
  system_.update(system.state());
  const MatX<double>& rows = system_.jacobian();
  row_scales(system_.jacobian_bounds(), inverse_inertias(system_), scale_);
  b_ = system_.terms().b;
  for (int r = 0; r < model_.row_count(); ++r) rate_[r] = system_.error_rate(r);
  const auto count = static_cast<Eigen::Index>(lines_.size());
  A_.resize(count, model_.tree.nv);
  T_.resize(model_.tree.nv, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Line& line = lines_[static_cast<std::size_t>(i)];
    const ContactPoint& point = points_[line.point];
    A_.row(i) = line.sign * rows.row(line.row);
    T_.col(i) = A_.row(i).transpose();
    const DryFriction* f = friction(point);
    const bool carries_friction = point.slides > 0.0 && f && f->normal_row == line.row;
    for (int r = 0; carries_friction && r < f->rows; ++r)
      T_.col(i) -= f->sliding_force(point.slides) * point.along[r] * rows.row(f->first_row + r).transpose();
  }
  known_ = VecX<double>::Zero(model_.tree.nv);
  for (const ContactPoint& point : points_) {
    const DryFriction* f = friction(point);
    if (!f || !(point.slides > 0.0)) continue;
    const double force = f->viscous * point.slides + (f->normal_row < 0 ? f->sliding_force(point.slides) * point.load : 0.0);
    for (int r = 0; r < f->rows; ++r) known_ -= force * point.along[r] * rows.row(f->first_row + r).transpose();
  }
  bilateral_.resize(model_.row_count(), count);
  respond(base_, R_);
  W_ = A_ * R_;
  if (known_.isZero(0.0)) return;
  system_.work().clear_forces();
  system_.work().tau = known_;
  answers_.solve(system_, no_change_, change_, impulse_);
  known_ = change_;
}

double ContactProblem::mobility(const System& system, int row) {
  base_ = system.modes();
  base_.rows[at(row)] = 1;
  system_.set_modes(base_);
  system_.update(system.state());
  const MatX<double>& bounds = system_.jacobian_bounds();
  return bounds.row(row).cwiseAbs2().dot(inverse_inertias(system_));
}

/// Whether other constraints alone decide how the line moves, as in a joint that cannot move, or that a drive moves.
bool ContactProblem::vanishes(Eigen::Index line) const {
  return !is_independent(A_.row(line).dot(R_.col(line)), scale_[lines_[static_cast<std::size_t>(line)].row]);
}

Eigen::Vector2d ContactProblem::free_motion(std::size_t p) const {
  Eigen::Vector2d across = Eigen::Vector2d::Zero();
  const DryFriction* f = friction(points_[p]);
  for (int r = 0; f && r < f->rows; ++r) across[r] = free_[first_line_[p + 1] - f->rows + r];
  return across;
}

/// Columns of accelerations in answer to the columns of generalized forces, with the rows of the modes held; their multipliers
/// are kept too.
void ContactProblem::respond(const Modes& modes, MatX<double>& to) {
  system_.set_modes(modes);
  system_.update(system_.state());
  to.resize(T_.rows(), T_.cols());
  for (Eigen::Index i = 0; i < T_.cols(); ++i) {
    system_.work().clear_forces();
    system_.work().tau = T_.col(i);
    answers_.solve(system_, no_change_, change_, impulse_);
    to.col(i) = change_;
    bilateral_.col(i) = impulse_;
  }
}

/// limits: by point, the coefficient of friction.
void ContactProblem::set_cones(const std::vector<double>& limits) {
  cones_.clear();
  cone_of_.clear();
  for (std::size_t p = 0; p < points_.size(); ++p) {
    const ContactPoint& point = points_[p];
    int line = first_line_[p];
    const DryFriction* f = point.slides > 0.0 ? nullptr : friction(point);
    cone_of_.push_back(cones_.size());
    if (point.contact >= 0 && f && f->normal_row >= 0 && !point.is_given) {
      cones_.push_back({Cone::Kind::kFriction, line, 1 + f->rows, limits[p]});
      continue;
    }
    if (point.contact >= 0) {
      cones_.push_back({Cone::Kind::kHalfLine, line++, 1, 0.0});
      if (const int along = model_.contacts[at(point.contact)].along; along > 0) {
        cones_.push_back({Cone::Kind::kFree, line, along, 0.0});
        line += along;
      }
    }
    const double load = point.is_given && f && f->normal_row >= 0 ? point.given : point.load;
    if (f) cones_.push_back({Cone::Kind::kBall, line, f->rows, limits[p] * std::max(0.0, load)});
  }
}

bool ContactProblem::solve_forces(const VecX<double>& vdot, const VecX<double>& lambda) {
  const auto count = static_cast<Eigen::Index>(lines_.size());
  VecX<double> c(count);
  double size = 0.0;
  const double usual = model_.units.rate > 0.0 ? model_.units.rate : 1.0;
  const VecX<double> free = vdot + known_;
  for (Eigen::Index i = 0; i < count; ++i) {
    const Line& line = lines_[static_cast<std::size_t>(i)];
    const double terms = A_.row(i).cwiseAbs().dot(free.cwiseAbs()) + std::abs(b_[line.row]);
    c[i] = A_.row(i).dot(free) - line.sign * b_[line.row];
    const double nothing = std::max(kNothing * terms, kNoWeight * model_.units.row[line.row] * usual * usual);
    if (vanishes(i) && std::abs(c[i]) <= nothing) c[i] = 0.0;
    size = std::max(size, terms);
  }
  bool solved = solve(c, size, lambda, false);
  if (!solved || is_in_doubt()) {
    const bool holds = std::exchange(solved, solve(c, size, lambda, false, true));
    if (!solved && holds) solved = solve(c, size, lambda, false);
  }
  respond_to(force_);
  return solved;
}

/// Whether a point that has come to its limit was found to hold, and is still there.
bool ContactProblem::is_in_doubt() const {
  const double near = 1e-3 * (force_.size() > 0 ? force_.cwiseAbs().maxCoeff() : 0.0);
  for (std::size_t p = 0; p < points_.size(); ++p) {
    if (found_[p] != State::kHolds || !(points_[p].gives_way || points_[p].lets_go)) continue;
    for (std::size_t k = cone_of_[p]; k < (p + 1 < points_.size() ? cone_of_[p + 1] : cones_.size()); ++k)
      if (depth(cones_[k], force_) <= near) return true;
  }
  return false;
}

bool ContactProblem::solve_impulses() {
  const auto count = static_cast<Eigen::Index>(lines_.size());
  VecX<double> c(count);
  double size = 0.0;
  for (Eigen::Index i = 0; i < count; ++i) {
    const Line& line = lines_[static_cast<std::size_t>(i)];
    const ContactPoint& point = points_[line.point];
    const double terms = A_.row(i).cwiseAbs().dot(system_.state().v.cwiseAbs());
    c[i] = line.sign * rate_[line.row];
    if (vanishes(i) && std::abs(c[i]) <= kNothing * terms) c[i] = 0.0;
    const bool is_normal = point.contact >= 0 && model_.contacts[at(point.contact)].row == line.row;
    if (is_normal && point.is_closing && !point.poisson) c[i] *= 1.0 + point.restitution;
    size = std::max(size, terms);
  }
  bool solved = solve(c, size, VecX<double>::Zero(model_.row_count()), true);
  const auto returns = [](const ContactPoint& point) { return point.poisson && point.restitution > 0.0; };
  if (solved && std::ranges::any_of(points_, returns)) solved = restitute(c, size);
  respond_to(force_);
  return solved;
}

/// After the compression: each contact presses with its share of the impulse again, with friction up to that; then no point may
/// close that did not.
bool ContactProblem::restitute(const VecX<double>& c, double size) {
  const VecX<double> none = VecX<double>::Zero(model_.row_count());
  VecX<double> total = force_;
  for (std::size_t p = 0; p < points_.size(); ++p) {
    points_[p].is_given = points_[p].contact >= 0;
    const bool returns = points_[p].poisson && points_[p].contact >= 0;
    points_[p].given = returns ? points_[p].restitution * std::max(0.0, force_[first_line_[p]]) : 0.0;  // not less, by rounding
  }
  bool solved = solve(c + W_ * total, size, none, true);
  total += force_;
  for (ContactPoint& point : points_) point.is_given = false;
  if (solved) solved = solve(c + W_ * total, size, none, true);
  force_ += total;
  return solved;
}

void ContactProblem::respond_to(const VecX<double>& force) {
  response_ = R_ * force;
  multipliers_ = bilateral_ * force;
  work_.assign(points_.size(), 0.0);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const Line& line = lines_[i];
    multipliers_[line.row] += line.sign * force[k];
    const double before = line.sign * rate_[line.row];
    work_[line.point] += force[k] * (before + 0.5 * W_.row(k).dot(force));
  }
}

/// Friction that begins to slide has its kinetic coefficient from then on, which may set others off; and the load of friction on
/// a two-sided row depends on the forces found. doubts: points that have come to their limit are taken a little beyond it.
bool ContactProblem::solve(VecX<double> c, double size, const VecX<double>& lambda, bool impulses, bool doubts) {
  constexpr int kMost = 40;
  constexpr double kDoubt = 1e-6;
  const std::size_t count = points_.size();
  std::vector<double> limits(count, 0.0);
  std::vector<char> kinetic(count, 0);
  idle_.assign(lines_.size(), 0);
  for (std::size_t p = 0; p < count; ++p) {
    if (const DryFriction* f = friction(points_[p]))
      limits[p] = f->sticking * (doubts && points_[p].lets_go ? 1.0 - kDoubt : 1.0);
    if (doubts && points_[p].gives_way) c[first_line_[p]] += kDoubt * size;
  }
  found_.assign(count, State::kHolds);
  direction_.assign(count, Eigen::Vector2d::UnitX());
  MatX<double> W = W_;
  for (std::size_t p = 0; p < count; ++p)
    if (points_[p].is_given) c += points_[p].given * W_.col(first_line_[p]);
  for (std::size_t p = 0; p < count; ++p) {
    if (!points_[p].is_given) continue;
    const int n = first_line_[p], lines = points_[p].given > 0.0 ? 1 : first_line_[p + 1] - n;
    W.middleRows(n, lines).setZero();
    W.middleCols(n, lines).setZero();
    c.segment(n, lines).setZero();
  }
  free_ = c;
  force_ = VecX<double>::Zero(c.size());
  bool solved = false;
  for (int round = 0; round < kMost; ++round) {
    bool changed = false;
    for (std::size_t p = 0; p < count; ++p) {
      const DryFriction* f = friction(points_[p]);
      if (points_[p].contact >= 0 || !f || f->normal_row < 0) continue;
      const double load = std::abs(lambda[f->normal_row] + bilateral_.row(f->normal_row).dot(force_));
      changed = changed || std::abs(load - points_[p].load) > 1e-10 * std::max(load, 1e-300);
      points_[p].load = load;
    }
    if (round > 0 && !changed) break;
    for (bool sliding_on = true; sliding_on;) {
      sliding_on = false;
      set_cones(limits);
      solved = cones_problem_.solve(W, c, cones_, size);
      force_ = cones_problem_.force();
      for (std::size_t p = 0; p < count; ++p)
        if (points_[p].is_given) force_[first_line_[p]] = points_[p].given;
      motion_ = W * force_ + free_;
      for (std::size_t p = 0; p < count; ++p) {
        const ContactPoint& point = points_[p];
        found_[p] = cones_problem_.state(cone_of_[p]);
        const DryFriction* f = friction(point);
        const int first = first_line_[p], last = first_line_[p + 1];
        if (found_[p] == State::kOpen) {
          for (int i = first + 1; i < last; ++i) {  // what holds with a contact goes with it
            if (idle_[at(i)] != 0 || cones_[cone_of_[p]].kind == Cone::Kind::kFriction) continue;
            idle_[at(i)] = 1;
            W.row(i).setZero();
            W.col(i).setZero();
            c[i] = 0.0;
            sliding_on = true;
          }
          continue;
        }
        if (!f) continue;
        if (point.slides > 0.0) {
          found_[p] = State::kSlides;
          direction_[p] = point.along;
          continue;
        }
        const bool has_normal = cones_[cone_of_[p]].kind == Cone::Kind::kFriction;
        if (point.contact >= 0 && !has_normal) found_[p] = cones_problem_.state(cone_of_[p] + 1);
        if (found_[p] != State::kSlides) continue;
        Eigen::Vector2d across = Eigen::Vector2d::Zero();
        for (int r = 0; r < f->rows; ++r) across[r] = motion_[last - f->rows + r];
        direction_[p] = across.normalized();
        Eigen::Vector2d before(rate_[f->first_row], f->rows > 1 ? rate_[f->first_row + 1] : 0.0);
        const double sliding = f->sliding_force(impulses ? before.norm() : 0.0);
        if (kinetic[p] == 0 && sliding < limits[p]) sliding_on = true;
        if (kinetic[p] == 0) limits[p] = std::min(limits[p], sliding);
        kinetic[p] = 1;
      }
    }
  }
  return solved;
}

int ContactProblem::jammed() const {
  for (std::size_t p = 0; p < points_.size(); ++p) {
    const int n = first_line_[p];
    if (points_[p].slides > 0.0 && points_[p].contact >= 0 && W_(n, n) <= 0.0 && free_[n] < 0.0) return static_cast<int>(p);
  }
  return -1;
}

int ContactProblem::ambiguous() const {
  for (std::size_t p = 0; p < points_.size(); ++p) {
    const int n = first_line_[p];
    if (points_[p].slides > 0.0 && points_[p].contact >= 0 && W_(n, n) < 0.0 && free_[n] > 0.0) return static_cast<int>(p);
  }
  return -1;
}

/// Distributions that do nothing: those with G y = 0, G = T' R.
void ContactProblem::find_redundancy() {
  std::ranges::fill(vanishing_, 0);
  const auto count = static_cast<Eigen::Index>(lines_.size());
  null_.resize(count, 0);
  if (count == 0) return;
  G_ = T_.transpose() * R_;
  VecX<double> scale(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const int row = lines_[static_cast<std::size_t>(i)].row;
    const bool has_no_effect = !is_independent(G_(i, i), scale_[row]);
    vanishing_[at(row)] = has_no_effect;
    scale[i] = has_no_effect ? 0.0 : 1.0 / std::sqrt(G_(i, i));
  }
  G_ = scale.asDiagonal() * G_ * scale.asDiagonal();
  for (Eigen::Index i = 0; i < count; ++i)
    if (scale[i] == 0.0) G_(i, i) = 1.0;
  const Eigen::SelfAdjointEigenSolver<MatX<double>> modes(G_);
  Eigen::Index nothing = 0;
  while (nothing < count && modes.eigenvalues()[nothing] <= kRankTolerance) ++nothing;
  if (nothing == 0) return;
  const MatX<double> y = scale.asDiagonal() * modes.eigenvectors().leftCols(nothing);
  null_ = Eigen::HouseholderQR<MatX<double>>(y).householderQ() * MatX<double>::Identity(count, nothing);
}

void ContactProblem::share(VecX<double>& lambda) {
  const auto count = static_cast<Eigen::Index>(lines_.size());
  VecX<double> f(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Line& line = lines_[static_cast<std::size_t>(i)];
    f[i] = vanishing_[at(line.row)] != 0 ? 0.0 : line.sign * lambda[line.row];
  }
  std::vector<double> limits(points_.size(), 0.0);
  for (std::size_t p = 0; p < points_.size(); ++p) {
    const DryFriction* f_of = friction(points_[p]);
    if (!f_of) continue;
    limits[p] = f_of->sticking;
    if (points_[p].contact < 0 && f_of->normal_row >= 0) points_[p].load = std::abs(lambda[f_of->normal_row]);
  }
  set_cones(limits);
  f -= null_ * (null_.transpose() * f);
  const auto fits = [&] { return std::ranges::all_of(cones_, [&](const Cone& cone) { return depth(cone, f) > 0.0; }); };
  if (!fits()) deepest_distribution(null_, cones_, f);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Line& line = lines_[static_cast<std::size_t>(i)];
    lambda[line.row] = line.sign * f[i];
  }
}

}  // namespace linkwork
