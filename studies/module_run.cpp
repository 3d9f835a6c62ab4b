#include "studies/module_run.h"

#include "linkwork/io/model_file.h"

namespace linkwork::studies {

Spec ready_model(const StudyContext& context, const std::string& name, double end) {
  Spec spec = read_model_file(context.models / (name + ".toml"));
  spec.settings.end = end;
  return spec;
}

}  // namespace linkwork::studies
