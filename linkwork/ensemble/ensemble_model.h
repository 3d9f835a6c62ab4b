#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "linkwork/front/mechanism.h"
#include "linkwork/front/model_origin.h"
#include "linkwork/model/spec.h"

namespace linkwork {

/// A model that is read again and again with other parameters, by several threads at a time. Its files are read once, and a
/// model file is parsed once; what is read is what 'linkwork run --set ...' reads.
class EnsembleModel {
 public:
  /// `adjust` makes the settings of each what the user asks for. Throws InputError.
  EnsembleModel(ModelOrigin origin, std::function<void(Settings&)> adjust);
  /// Of a mechanism that was read or built. Throws InputError if a program has a part in it, which no file has.
  EnsembleModel(const Mechanism& mechanism, std::function<void(Settings&)> adjust);

  /// With the values that the model itself has.
  const Spec& spec() const { return spec_; }
  const std::map<std::string, double>& parameters() const { return parameters_; }
  /// Throws InputError, which names the option, unless the model has a parameter of that name
  void check_parameter(const std::string& name, const std::string& option) const;
  /// that nothing else sets.
  void check_varied(const std::string& name, const std::string& option) const;
  /// With these values of some parameters, in place of what was set. May be called on any thread. Throws InputError.
  Spec read(const std::vector<std::string>& names, const std::vector<double>& values) const;
  /// Of all that was read, and of the parameters that were set.
  std::uint64_t fingerprint() const;
  const ModelOrigin& origin() const { return origin_; }
  /// All columns that a run of it can have.
  std::vector<std::string> columns() const;

 private:
  std::string text_of(const std::filesystem::path& file) const;
  Spec read(const std::vector<std::pair<std::string, std::string>>& set) const;

  ModelOrigin origin_;
  std::function<void(Settings&)> adjust_;
  std::unique_ptr<std::mutex> lock_ = std::make_unique<std::mutex>();
  mutable std::map<std::filesystem::path, std::string> texts_;  // of files, once they were read
  std::shared_ptr<const Document> document_;                    // null: a robot file
  Spec spec_;
  std::map<std::string, double> parameters_;
};

}  // namespace linkwork
