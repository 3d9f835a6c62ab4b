#include "linkwork/model/remote_modules.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/model/kinds.h"
#include "linkwork/model/spec.h"

namespace linkwork {

const RemoteModuleSpec* RemoteModules::of_body(const std::string& body) const {
  const auto found = std::ranges::find_if(modules, [&](const RemoteModuleSpec& module) {
    return body.size() > module.name.size() + 1 && body.starts_with(module.name) && body[module.name.size()] == '.' &&
           body.find('.', module.name.size() + 1) == std::string::npos;
  });
  return found == modules.end() ? nullptr : &*found;
}

const RemoteModules* remote_modules(const Spec& spec) { return spec.kinds->remote.get(); }

void refuse_remote_modules(const Spec& spec) {
  const RemoteModules* const remote = remote_modules(spec);
  if (remote == nullptr) return;
  for (const RemoteModuleSpec& module : remote->modules)
    if (std::ranges::find(spec.modules, module.name, &ModuleSpec::name) != spec.modules.end())
      throw InputError(
          module.place,
          fmt::format("the equations of module '{}' are not here, since it {}, and this needs the model in one piece",
                      module.name, module.fmu ? "is an FMU" : "is on another host"),
          "a model file in its place, or 'linkwork run' with a glue and modules that can be solved apart");
}

void parse_remote(const std::string& url, const Place& place, RemoteModuleSpec& module) {
  constexpr std::string_view kScheme = "linkwork://";
  const auto fail = [&] { throw InputError(place, fmt::format("'remote' is '{}'", url), "\"linkwork://host:port/part\""); };
  if (!url.starts_with(kScheme)) fail();
  const std::string rest = url.substr(kScheme.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string::npos) fail();
  module.host = rest.substr(0, slash);
  module.part = rest.substr(slash + 1);
  const std::size_t colon = module.host.rfind(':');
  if (colon == std::string::npos || colon == 0 || module.part.empty() || module.part.find('/') != std::string::npos) fail();
  const std::string port = module.host.substr(colon + 1), name = module.host.substr(0, colon);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (port.empty() || port.size() > 5 || !std::ranges::all_of(port, is_digit) || std::stoi(port) < 1 || std::stoi(port) > 65535)
    fail();
  const auto is_bad = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == '@' || c == '?' || c == '#' || c == 0x7F;
  };
  if (std::ranges::any_of(url, is_bad) ||
      (name.find(':') != std::string::npos && !(name.starts_with('[') && name.ends_with(']'))))
    fail();
}

}  // namespace linkwork
