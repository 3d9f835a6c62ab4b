#pragma once

/// The library as programs see it:
///
///   Mechanism   a model that was checked: load() a file, parse() a text, or put one together with a Builder
///   run()       simulates it and keeps the rows
///   Run         the same step by step: inputs, controllers, save and restore
///   Evaluation  the mechanism at a state: accelerations, reactions, matrices, Jacobians, energies
///   equilibrium(), linearize(), modes(), inverse()
///   sweep()     many runs with other parameters; optimize() looks for the best ones
///   Batch       many instances that are stepped together
///   CustomForce a force that a program computes
///   Module      a part of an assembly that a program computes
///
/// Whatever is wrong with a model, a name or an option is told by InputError; what goes wrong while a run is under way, by
/// SimulationError. All other headers are details that may change.

#include "linkwork/ensemble/batch.h"
#include "linkwork/ensemble/optimize.h"
#include "linkwork/ensemble/sweep.h"
#include "linkwork/front/analyses.h"
#include "linkwork/front/builder.h"
#include "linkwork/front/evaluation.h"
#include "linkwork/front/mechanism.h"
#include "linkwork/front/run.h"
#include "linkwork/modules/module.h"
#include "linkwork/version.h"
