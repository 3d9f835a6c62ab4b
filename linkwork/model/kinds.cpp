#include "linkwork/model/kinds.h"

namespace linkwork {

const std::shared_ptr<const Kinds>& standard_kinds() {
  static const auto kinds = std::make_shared<const Kinds>(Kinds{coordinate_closure_kinds(), force_kinds(), sensor_kinds()});
  return kinds;
}

}  // namespace linkwork
