#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "linkwork/dynamics/system.h"

namespace linkwork {

/// What is in force in the whole (Modes, and the branches that expressions are held on), as numbers that can be sent: the
/// first rank, which has the whole in one piece, writes them; modules and couplings, which have parts of it under the same names,
/// read them.
class SharedModes {
 public:
  /// The names of everything, a line each: what the first rank tells the others before anything else.
  static std::string names_in(const Model& whole);
  explicit SharedModes(const std::string& names);

  std::vector<double>& numbers() { return numbers_; }
  /// Of the whole, in the order of its names.
  void write(System& whole);

  /// Where the modes of a part are among them.
  struct Places {
    std::vector<int> rows, forces, parameters, friction;  // -1: it is not in the whole
    std::vector<int> branches;                            // by function that switches
  };
  Places places_of(const Model& part) const;
  /// Modes of a part, and its branches. What is not in the whole stays as it is.
  void read(const Places& places, Modes& modes, System& part) const;

  bool holds_branches() const { return numbers_[0] != 0.0; }

 private:
  std::unordered_map<std::string, int> place_;  // by name
  std::vector<double> numbers_;                 // the first: whether branches are held
};

}  // namespace linkwork
