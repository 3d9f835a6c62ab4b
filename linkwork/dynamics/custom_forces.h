#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace linkwork {

class EvaluatedForces;
class EvaluatedSignals;
struct Model;
struct ModelNames;

/// The custom forces of a model, called at evaluated states of it.
class CustomForces {
 public:
  /// The model must outlive it. Throws InputError for columns of what is not there.
  explicit CustomForces(const Model& model);
  CustomForces(CustomForces&&) noexcept;
  CustomForces& operator=(CustomForces&&) noexcept;
  ~CustomForces();

  /// Adds them to the forces of the system and returns the power of what has no potential.
  double apply(EvaluatedForces& system);
  double potential(const EvaluatedSignals& system) const;
  /// What was not a finite number when last applied, in words; or empty.
  const std::string& not_finite() const { return not_finite_; }

  // When last applied:
  /// By force: the work it does on the mechanism in unit time, with or without a potential.
  std::span<const double> powers() const { return powers_; }
  /// What forces did to what they have columns of (CustomForce::columns), force by force: six numbers per body, force first, one
  /// per joint coordinate.
  std::span<const double> shown() const { return shown_; }

 private:
  const Model* model_;
  std::unique_ptr<ModelNames> names_;
  std::string not_finite_;
  std::vector<double> powers_, shown_;
};

}  // namespace linkwork
