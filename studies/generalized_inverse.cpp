#include "studies/catalog.h"
#include "studies/generalized_inverse/parts.h"

namespace linkwork::studies {
namespace {

StudyResult run_generalized_inverse(StudyContext& context) {
  StudyResult result;
  generalized_inverse::dependent_rows(context, result);
  generalized_inverse::operation_counts(context, result);
  generalized_inverse::four_bar_kinematics(context, result);
  generalized_inverse::five_bar_kinematics(context, result);
  generalized_inverse::reuse_of_the_inverse(context, result);
  generalized_inverse::parallel_computation(context, result);
  generalized_inverse::processors(context, result);
  generalized_inverse::genetic_algorithm(context, result);
  return result;
}

void help(StudyContext& context) {
  StudyResult unused;
  generalized_inverse::processors(context, unused);
}

}  // namespace

Study generalized_inverse_study() {
  return {{"generalized-inverse", "Generalized inverses and genetic algorithms for constrained systems",
           "dependent rows, operation counts, kinematics, reuse and parallel computation of generalized inverses; Gauss' "
           "principle by a genetic algorithm",
           "Wu1997",
           "F. Wu, doctoral thesis, University of Arizona: generalized inverses, parallel computation and genetic algorithms"},
          run_generalized_inverse,
          help};
}

}  // namespace linkwork::studies
