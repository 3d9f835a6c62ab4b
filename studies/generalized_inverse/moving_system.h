#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "studies/generalized_inverse/dense.h"

namespace linkwork::studies {

/// A system with a diagonal, constant mass matrix and constraints given as formulas, as the thesis writes its examples.
class MovingSystem {
 public:
  using Vector = VectorOf<double>;
  using Matrix = MatrixOf<double>;

  virtual ~MovingSystem() = default;
  virtual Vector masses() const = 0;
  virtual void start(Vector& q, Vector& v) const = 0;
  virtual Vector forces(double t, const Vector& q, const Vector& v) const = 0;
  virtual Matrix rows(const Vector& q) const = 0;                             // A
  virtual Vector right_side(const Vector& q, const Vector& v) const = 0;      // b
  virtual Vector velocity_error(const Vector& q, const Vector& v) const = 0;  // A v - u
  virtual Vector position_error(const Vector& q) const = 0;                   // phi; 0 for nonholonomic rows
  virtual bool is_holonomic(Index row) const = 0;
  virtual double energy(const Vector& q, const Vector& v) const = 0;
};

/// Figure 4.7: a crank, a rod, and a disc that rolls on the floor. q = (crank angle, rod x, y, angle, disc x, y, angle).
std::unique_ptr<MovingSystem> crank_rod_disc();

/// Figure 4.10, reduced to what makes it nonholonomic: a driving shaft turns a disc on a second shaft by friction, at a distance
/// x from the axis of the disc that a spring and the disc's own speed set. q = (driver angle, disc angle, x).
std::unique_ptr<MovingSystem> friction_drive();

/// What happens to a generalized inverse between the steps at which it is computed.
enum class Compensation { kNone, kBaumgarte, kProjection, kMassProjection };

struct ReuseOptions {
  int every = 1;  // steps that share an inverse; 1: computed anew at every evaluation
  Compensation compensation = Compensation::kNone;
  double gain = 5.0;  // alpha = beta = gamma of eq. 2.39 and 2.40
};

struct Motion {
  std::vector<double> t;
  std::vector<VectorOf<double>> q, v;
  double position_error = 0.0, velocity_error = 0.0;  // largest
};

/// Runge-Kutta of order 4 with steps of h.
Motion simulated(const MovingSystem& system, const ReuseOptions& options, double h, double end);

}  // namespace linkwork::studies
