#include "apps/linkwork/program.h"

#include "apps/linkwork/commands.h"
#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/terminal.h"
#include "python/src/bindings.h"

namespace linkwork::python {

std::filesystem::path find_model(const std::string& name) {
  cli::ModelArgument argument;
  argument.model = name;
  return argument.path();
}

/// The command line, in this process: python3 -m linkwork.
static int program(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  const py::gil_scoped_release unlocked;
  return cli::exit_code(static_cast<int>(argv.size()), argv.data());
}

void bind_program(py::module_& module) {
  module.def("set_ready_models", [](const std::string& folder) { cli::set_ready_model_folder(folder); });
  module.def("ready_models", [] {
    std::map<std::string, std::string> models;
    for (const cli::ReadyModel& model : cli::ready_models()) models[model.name] = model.file.string();
    return models;
  });
  module.def("program", program);
}

}  // namespace linkwork::python
