#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "linkwork/model/input_error.h"

namespace linkwork {

class SignalBlock;
struct Spec;

/// A module of a model file that another process, or an FMU, computes. Frames on it are named by its ports: the body "right.tip"
/// of a FrameSpec is the port "tip" of the module "right".
struct RemoteModuleSpec {
  std::string name;  // in full, as in Spec::modules
  std::string host;  // "host:port"
  std::string part;  // what is asked for there
  std::vector<std::pair<std::string, double>> parameters;
  Place place;
  std::shared_ptr<const SignalBlock> fmu = nullptr;  // in place of a host
};

/// [settings.network]: files, and how long to wait for an answer.
struct NetworkSettings {
  std::string ca, cert, key;
  double timeout = 10.0;  // s
};

struct RemoteModules {
  std::vector<RemoteModuleSpec> modules;
  NetworkSettings network;

  /// The module whose port a body of a FrameSpec is; null: it is a body of this model.
  const RemoteModuleSpec* of_body(const std::string& body) const;
};

/// Those of a model; null: all of it is here.
const RemoteModules* remote_modules(const Spec& spec);
/// Throws InputError that names one: the mechanism in one piece is asked for.
void refuse_remote_modules(const Spec& spec);

/// "linkwork://host:port/part". Throws InputError.
void parse_remote(const std::string& url, const Place& place, RemoteModuleSpec& module);

}  // namespace linkwork
