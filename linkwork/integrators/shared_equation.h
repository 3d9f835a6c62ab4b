#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "linkwork/dynamics/integrator.h"
#include "linkwork/model/spec.h"

namespace linkwork {

/// What methods need beside rates where ranks share a differential equation: how the numbers of a rank are made up, and sums over
/// those of all. Sums are formed part by part, and the parts' in an order that is the same on any number of ranks.
class SharedEquation {
 public:
  struct Part {  // of y, one after the other
    int size = 0;
    int controlled = 0;  // of them the first ones: error control looks at these
    int velocities = 0;  // where they begin; positions stand before them
    int velocity_count = 0;
  };

  virtual ~SharedEquation() = default;
  /// Of this rank.
  virtual std::vector<Part> parts() const = 0;
  /// One number for each part of this rank; the sum over all parts of all ranks.
  virtual double sum(std::span<const double> by_part) = 0;
  /// Of one number a rank.
  virtual double largest(double own) = 0;
  /// The numbers of all ranks, on each.
  virtual void gather(const VecX<double>& own, VecX<double>& all) = 0;
  /// A matrix of which every rank has the rows that belong to its numbers.
  virtual void gather_rows(const MatX<double>& own, MatX<double>& all) = 0;
  /// How many numbers there are on the ranks before this one, and on all.
  virtual int first() const = 0;
  virtual int total() const = 0;
  /// Derivatives of a part's rates by its own numbers, with what the others do to it held as it was last evaluated.
  virtual void own_derivatives(std::size_t part, double t, const VecX<double>& y, const VecX<double>& changes,
                               MatX<double>& J) = 0;
  /// Moves the positions of a part along a small displacement, as its velocities are measured. False: the part does not know how.
  virtual bool displace(std::size_t part, const VecX<double>& change, Eigen::Ref<VecX<double>> y) = 0;
};

/// Integrators that step what ranks share, beside the Runge-Kutta methods: names of the catalog.
const std::vector<std::string>& shared_integrators();
/// What the settings ask for; null if it is none of them. The equation must last as long.
std::unique_ptr<Integrator> make_shared_integrator(const Settings& settings, SharedEquation& equation);

}  // namespace linkwork
