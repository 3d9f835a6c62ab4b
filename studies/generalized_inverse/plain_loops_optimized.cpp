#include "studies/generalized_inverse/plain_loops.h"

namespace linkwork::studies::generalized_inverse {

void gigsp_optimized(int n, int m, const double* M, const double* A, const double* b, const double* f, double* work, double* a) {
  gigsp_in_loops<1>(n, m, M, A, b, f, work, a);
}

}  // namespace linkwork::studies::generalized_inverse
