#include "linkwork/stabilizations/catalog.h"

namespace linkwork {

CatalogEntry<Stabilization> no_stabilization() {
  return {{"none", "nothing: the constraints drift, and the drift is reported", "", {}},
          [](const Model&, const Options&) { return std::make_unique<Stabilization>(); }};
}

}  // namespace linkwork
