#pragma once

#include <Eigen/Core>
#include <vector>

#include "linkwork/model/model.h"

namespace linkwork {

/// What is the case between two events and changes only there: the discrete part of a run's state.
struct Modes {
  struct Friction {
    enum class Kind { kOff, kStick, kSlip };  // off: no contact
    Kind kind = Kind::kOff;
    Eigen::Vector2d direction = Eigen::Vector2d::UnitX();  // of sliding, when this mode or this step began
  };

  /// As the model starts: contacts open, no friction yet.
  explicit Modes(const Model& model);

  std::vector<char> rows;    // which constraints are in force
  std::vector<char> forces;  // and which forces
  std::vector<double> parameters;
  std::vector<Friction> friction;
};

}  // namespace linkwork
