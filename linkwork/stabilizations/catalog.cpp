#include "linkwork/stabilizations/catalog.h"

#include <array>

namespace linkwork {

Catalog<Stabilization> stabilizations() {
  static const std::array entries{projection_stabilization(), position_stabilization(),  velocity_stabilization(),
                                  post_stabilization(),       baumgarte_stabilization(), acceleration_stabilization(),
                                  no_stabilization()};
  return entries;
}

}  // namespace linkwork
