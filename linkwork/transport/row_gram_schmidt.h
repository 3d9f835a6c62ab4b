#pragma once

#include <span>

#include "linkwork/linalg/gigsp.h"
#include "linkwork/transport/transport.h"

namespace linkwork {

/// Which rank has which rows: neighbours together, or every size-th.
enum class RowPartition { kStrip, kCyclic };

/// The Gram-Schmidt process of Gigsp over ranks with one message a row, after the shared-memory programs of [Arabyan1998] (ch. 4
/// of the thesis behind it): the owner of the next row makes it a unit vector and sends it, and every rank takes it out of those
/// of its rows that are still to come. This is modified Gram-Schmidt in one pass: rows that nearly depend on others lose digits
/// of orthogonality. It is here to be measured against; BlockGramSchmidt replaces it.
void row_gram_schmidt(Transport& transport, const MatX<double>& rows, std::span<const double> scale, double tolerance,
                      RowPartition partition, Gigsp::Factors& factors);

}  // namespace linkwork
