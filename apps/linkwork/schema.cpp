#include "linkwork/io/schema.h"

#include <fmt/format.h>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/terminal.h"

namespace linkwork::cli {

Command schema_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("schema", "Prints the JSON Schema of model files, for editors.");
  app->footer(
      "Editors with TOML support complete and check a model whose first line is\n"
      "  #:schema ./linkwork.schema.json\n\n"
      "Example:\n"
      "  linkwork schema > linkwork.schema.json");
  return {app, [] {
            print("{}\n", model_schema_json());
            return static_cast<int>(kDone);
          }};
}

}  // namespace linkwork::cli
