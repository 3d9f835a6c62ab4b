#pragma once

#include "linkwork/dynamics/formulation.h"

namespace linkwork {

/// Which loops are embedded in compound bodies (CE), the others being cut (TA).
struct EmbeddingChoice {
  std::vector<char> embed;  // by group of constraint rows (ConstraintTerms::groups)
  bool analytic = true;     // planar four-bars and slider-cranks are closed by formula, the others by Newton's method
};

/// Every loop embedded.
EmbeddingChoice embed_all(const Model& model);

/// What solves a model with embedded loops.
std::unique_ptr<Formulation> make_embedding(const Model& model, const EmbeddingChoice& choice);

}  // namespace linkwork
