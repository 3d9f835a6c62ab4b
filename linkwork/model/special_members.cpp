#include "linkwork/model/model.h"
#include "linkwork/model/spec.h"

namespace linkwork {

Model::Model() = default;
Model::Model(const Model&) = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(const Model&) = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Spec::Spec() = default;
Spec::Spec(const Spec&) = default;
Spec::Spec(Spec&&) noexcept = default;
Spec& Spec::operator=(const Spec&) = default;
Spec& Spec::operator=(Spec&&) noexcept = default;
Spec::~Spec() = default;

}  // namespace linkwork
