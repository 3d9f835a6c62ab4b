#pragma once

#include <memory>
#include <string>

namespace linkwork {

struct Model;
struct ModelNames;
class System;

/// The custom forces of a model, called at evaluated states of it.
class CustomForces {
 public:
  /// The model must outlive it.
  explicit CustomForces(const Model& model);
  CustomForces(CustomForces&&) noexcept;
  CustomForces& operator=(CustomForces&&) noexcept;
  ~CustomForces();

  /// Adds them to the forces of the system and returns the power of what has no potential.
  double apply(System& system);
  double potential(const System& system) const;
  /// What was not a finite number when last applied, in words; or empty.
  const std::string& not_finite() const { return not_finite_; }

 private:
  const Model* model_;
  std::unique_ptr<ModelNames> names_;
  std::string not_finite_;
};

}  // namespace linkwork
