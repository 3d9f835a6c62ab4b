#pragma once

#include <memory>

#include "linkwork/dynamics/formulation.h"

namespace linkwork {

/// `schur:early=0`, the solution of [Jain2012] L2 to the letter: one dense Schur complement over all rows.
std::unique_ptr<Formulation> whole_schur(const Model& model);

}  // namespace linkwork
