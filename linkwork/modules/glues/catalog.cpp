#include "linkwork/modules/glues/catalog.h"

namespace linkwork {

std::span<const GlueEntry> glues() {
  static const std::vector<GlueEntry> entries{hierarchical_glue(), compliance_glue(), projection_glue(), gluing_glue(),
                                              waveform_glue()};
  return entries;
}

std::vector<CatalogInfo> glue_choices() {
  std::vector<CatalogInfo> choices{{"auto", "hierarchical for models with modules, as far as the other choices allow it", "", {}},
                                   {"none", "the whole model is solved as one", "", {}}};
  for (const GlueEntry& entry : glues()) choices.push_back(entry.info);
  return choices;
}

}  // namespace linkwork
