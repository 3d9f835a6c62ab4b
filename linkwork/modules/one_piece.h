#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"

namespace linkwork {

/// The same system in one piece, to compare a glue with: how much do accelerations differ at a state that the glue came to?
class OnePiece {
 public:
  /// `columns` are those of the rows to be compared.
  OnePiece(const Model& model, const std::vector<std::string>& columns);

  /// The largest difference of an acceleration, relative to the largest acceleration there (or 1). NaN if the system in one piece
  /// has no answer.
  double difference(std::span<const double> row);

 private:
  struct Coordinate {
    std::size_t column;
    int index;  // in State::q or v
  };
  const Model& model_;
  EquationsOfMotion equations_;
  State state_;
  Derivative rates_;
  std::vector<Coordinate> q_, v_, a_;
};

}  // namespace linkwork
