#include "linkwork/tree/lane_tree.h"

#include <algorithm>

namespace linkwork {

bool have_same_shape(const Tree& a, const Tree& b) {
  return a.nq == b.nq && a.nv == b.nv && std::ranges::equal(a.nodes, b.nodes, [](const Node& x, const Node& y) {
           return x.parent == y.parent && x.q == y.q && x.v == y.v && x.kind == y.kind && x.has_gamma == y.has_gamma &&
                  x.has_alpha == y.has_alpha && x.right_angle == y.right_angle && x.planar == y.planar;
         });
}

}  // namespace linkwork
