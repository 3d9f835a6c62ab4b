#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "linkwork/front/mechanism.h"
#include "linkwork/modules/remote/module_host.h"
#include "linkwork/modules/remote/network.h"

namespace linkwork {

/// What a model file offers to runs on other hosts: itself as a module, by the name of the file and of the model. `columns`: the
/// output that others may see, as in the settings; empty: all. Throws InputError for a model that cannot be served.
ServedParts served_model(const std::filesystem::path& file, const Parameters& parameters = {},
                         const std::vector<std::string>& columns = {});

/// A module that a program computes itself, with ports of these names: make() is called for each run that opens it.
ServedParts served_module(const std::string& part, const std::vector<std::string>& ports,
                          std::function<ServedModule(const remote::Open& request)> make);

/// Serves parts until `go_on` is false. `listening` is told the port. Throws InputError, and std::runtime_error if the network
/// objects.
void serve(const ServedParts& parts, const ListenSettings& settings, const std::function<void(int port)>& listening,
           const std::function<bool()>& go_on);

}  // namespace linkwork
