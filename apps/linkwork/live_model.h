#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/linkwork/http_server.h"
#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/settings_options.h"

namespace linkwork::cli {

/// A model whose parameters and inputs are moved by a page: every change starts a run of its own, in a thread of its own, and
/// ends the one before. With a pace, runs go by the clock, and inputs act on the one that is going.
class LiveModel {
 public:
  /// Reads and assembles the model once, so that what is wrong with it is said now. Throws InputError.
  LiveModel(ModelArgument model, SettingsOptions settings, std::optional<double> pace);
  ~LiveModel();

  /// The page itself, and what it asks for under a path that no other page knows.
  HttpAnswer answer(std::string_view target);

 private:
  /// A parameter or an input: "p.torque", "u.motor".
  using Values = std::map<std::string, double>;
  struct Running;

  static Spec read(ModelArgument model, const SettingsOptions& settings, const Values& values);
  void find_parameters();
  std::string page() const;
  void start(const Values& values);
  static void run(Running& running, const Spec& spec, std::optional<double> pace);
  HttpAnswer told(long from, long known_scene) const;

  ModelArgument model_;
  SettingsOptions settings_;
  std::optional<double> pace_;
  std::string path_;  // "/live/<many digits>/"
  struct Parameter {
    std::string name;
    double value;
    bool whole;
  };
  std::vector<Parameter> parameters_;
  Values moved_;  // what the page last asked for
  long runs_ = 0;
  std::shared_ptr<Running> running_;
};

}  // namespace linkwork::cli
