#include "linkwork/dynamics/constraint_terms.h"

namespace linkwork {

ConstraintTerms::ConstraintTerms(const Model& model)
    : layout(layout_of(model)),
      first_rows(layout->first_rows),
      closure_rows(layout->closure_rows),
      phi(VecX<double>::Zero(model.row_count())),
      rate(phi),
      u(phi),
      b(phi),
      groups(layout->groups) {}

}  // namespace linkwork
