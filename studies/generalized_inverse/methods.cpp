#include "studies/generalized_inverse/methods.h"

namespace linkwork::studies {

std::string name_of(Method method) {
  switch (method) {
    case Method::kLagrangeFull:
      return "Lagrange, augmented matrix (LU)";
    case Method::kLagrange:
      return "Lagrange (regular inverse)";
    case Method::kSinghLikins:
      return "Singh-Likins (SVD)";
    case Method::kKimVanderploeg:
      return "Kim-Vanderploeg (QR)";
    case Method::kUdwadiaKalaba:
      return "Udwadia-Kalaba (SVD)";
    case Method::kGramSchmidt:
      return "GIGSP (Gram-Schmidt)";
  }
  return {};
}

}  // namespace linkwork::studies
