#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "linkwork/analysis/evaluator.h"
#include "linkwork/front/mechanism.h"
#include "linkwork/front/model_origin.h"
#include "linkwork/modules/model_run.h"

namespace linkwork {

/// What copies of a mechanism share. What takes time is made when first asked for.
struct Mechanism::Parts {
  explicit Parts(Spec model, OwnModules own = {}, std::shared_ptr<const ModelOrigin> from = {})
      : spec(std::move(model)), modules(std::move(own)), origin(std::move(from)) {}

  const Spec spec;
  const OwnModules modules;
  const std::shared_ptr<const ModelOrigin> origin;  // null: a program has a part in it, which no file has
  const std::shared_ptr<const Model>& model() const;
  const std::shared_ptr<EvaluatorPool>& evaluators() const;
  const State& start() const;

 private:
  mutable std::once_flag model_made_, evaluators_made_, start_made_;
  mutable std::shared_ptr<const Model> model_;
  mutable std::shared_ptr<EvaluatorPool> evaluators_;
  mutable State start_;
};

}  // namespace linkwork
