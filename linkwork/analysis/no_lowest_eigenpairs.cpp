#include "linkwork/analysis/eigenpairs.h"

namespace linkwork {

Eigenpairs lowest_eigenpairs(const MatX<double>& A, int) { return all_eigenpairs(A); }

}  // namespace linkwork
