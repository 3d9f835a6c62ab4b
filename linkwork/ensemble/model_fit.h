#pragma once

#include <functional>

#include "linkwork/ensemble/optimize.h"

namespace linkwork {

/// Fits runs to data; parameters and their bounds are in `optimum`, which is completed. See optimize().
void fit_model(const EnsembleModel& model, const OptimizeRequest& request, Optimum& optimum, const std::function<bool()>& go_on,
               const std::function<void(const Optimum&)>& tell);

}  // namespace linkwork
