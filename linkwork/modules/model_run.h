#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "linkwork/model/model.h"
#include "linkwork/modules/module.h"
#include "linkwork/modules/remote/network.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/transport/transport.h"

namespace linkwork {

class AssemblySystem;

/// A run that is ready to begin, on one of the ranks that share it.
struct ReadyRun {
  Simulation& simulation;
  std::shared_ptr<const Model> model;  // in one piece; only the first rank has it
  AssemblySystem* modules;             // null in one piece
  Transport& transport;                // between the ranks
};

/// What a rank has to do with the run: it may throw, refuse it, and gives the observer.
using Prepare = std::function<Observer(const ReadyRun& ready)>;

/// Modules that a program computes itself, in place of those of a model that have these names.
using OwnModules = std::map<std::string, std::function<std::unique_ptr<Module>()>>;

struct ModelRunOptions {
  int threads = 1;                 // that share the modules of a model
  const SavedRun* from = nullptr;  // what it goes on from
  OwnModules modules = {};
  DialHost dial = nullptr;  // how modules on other hosts are reached; null: by the network
};

/// Runs a model as its settings ask for: in one piece, or its modules under their glue, on threads or on the ranks of `world`.
/// Modules are compared with the whole in one piece on the way. The summary is complete on the first rank. Throws InputError.
Summary run_model(const Spec& spec, Transport& world, const ModelRunOptions& options, const Prepare& prepare);

/// The same run as run_model() would make, in this process alone, to be stepped by others.
struct LiveRun {
  std::unique_ptr<Transport> transport;  // that it needs
  std::unique_ptr<Simulation> simulation;
  std::shared_ptr<const Model> model;  // in one piece
  bool is_one_piece = true;
  std::vector<std::string> notes;
};
LiveRun make_live_run(const Spec& spec, const OwnModules& modules = {});

/// The rows of a run in this process, kept in memory.
struct KeptRun {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
  Summary summary;

  /// Throws std::out_of_range if there is no such column.
  std::vector<double> operator[](const std::string& column) const;
};
KeptRun run_model(const Spec& spec, int threads = 1);

}  // namespace linkwork
