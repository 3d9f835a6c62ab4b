#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/formulations/embedding.h"

namespace linkwork {

/// How a mechanism in one piece is solved: what the settings ask for, with what "auto" stands for filled in.
struct MethodChoice {
  Choice formulation, stabilization;
  std::optional<EmbeddingChoice> embedding;  // loops that are embedded; nothing if all are cut
  std::string coordinates;                   // FA, TA, CE, or hybrid: some loops embedded
  bool exact = true;                         // the formulation is
  std::vector<std::string> notes;            // what was chosen, and why
};

/// `model` is in the coordinates it is run in, `is_free`: those of free bodies. Throws InputError for choices that do not go
/// together.
MethodChoice choose_methods(const Model& model, const State& start, bool is_free);

/// Every loop embedded, as coordinates 'CE' ask for. Throws InputError for rows that cannot be.
EmbeddingChoice all_loops_embedded(const Model& model);

/// The drift control asked for, or none where the formulation could not work beside it and nobody asked.
Choice fitting_stabilization(const Choice& formulation, const Choice& wanted, std::vector<std::string>& notes);

/// As chosen, without memory of earlier steps.
std::unique_ptr<EquationsOfMotion> make_equations(const Model& model, const MethodChoice& methods);

}  // namespace linkwork
