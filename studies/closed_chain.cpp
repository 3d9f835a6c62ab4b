#include "studies/catalog.h"
#include "studies/closed_chain/parts.h"

namespace linkwork::studies {
namespace {

StudyResult run_closed_chain(StudyContext& context) {
  StudyResult result;
  closed_chain::mechanisms(context, result);
  closed_chain::rover(context, result);
  closed_chain::rover_steps(context, result);
  return result;
}

}  // namespace

Study closed_chain_study() {
  return {{"closed-chain", "Efficient constraint modeling for closed-chain dynamics",
           "fully augmented, tree augmented and embedded loops on five mechanisms and a rover: error against time", "Jain2012",
           "A. Jain, C. Crean, C. Kuo, M. B. Quadrelli: Efficient constraint modeling for closed-chain dynamics, 2012"},
          run_closed_chain};
}

}  // namespace linkwork::studies
