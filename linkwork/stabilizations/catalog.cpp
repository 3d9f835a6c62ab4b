#include "linkwork/stabilizations/catalog.h"

#include <array>

namespace linkwork {

Catalog<Stabilization> stabilizations() {
  static const std::array entries{projection_stabilization(), baumgarte_stabilization(), no_stabilization()};
  return entries;
}

}  // namespace linkwork
