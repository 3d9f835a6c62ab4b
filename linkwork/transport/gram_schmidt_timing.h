#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "linkwork/spatial/vector.h"
#include "linkwork/transport/transport.h"

namespace linkwork {

/// Ways to run the Gram-Schmidt process of the generalized inverse.
enum class GramSchmidt {
  kSerial,      // Gigsp::factor(): row by row, on one rank
  kRowsStrip,   // row_gram_schmidt()
  kRowsCyclic,  // row_gram_schmidt()
  kBlocks       // BlockGramSchmidt
};
std::string_view name_of(GramSchmidt algorithm);

struct GramSchmidtTiming {
  GramSchmidt algorithm = GramSchmidt::kSerial;
  int m = 0, n = 0;  // size of the matrix: rows, columns
  int ranks = 1;
  double seconds = 0.0;
};

/// A full-rank matrix of m random rows of length n, as columns; the same on every rank and machine.
MatX<double> random_rows(int m, int n);

/// The shortest of `repetitions` runs, from all ready to all done. All ranks call it and get the same; kSerial runs on each.
GramSchmidtTiming time_gram_schmidt(Transport& transport, GramSchmidt algorithm, const MatX<double>& rows, int repetitions);

/// On threads of this process, once for each number of them; kSerial is measured on one thread only.
std::vector<GramSchmidtTiming> time_gram_schmidt_on_threads(int m, int n, std::span<const int> threads,
                                                            std::span<const GramSchmidt> algorithms, int repetitions);

/// The quickest of those with this algorithm; null if there is none.
const GramSchmidtTiming* quickest(std::span<const GramSchmidtTiming> timings, GramSchmidt algorithm);

}  // namespace linkwork
