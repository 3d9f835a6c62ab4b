#pragma once

#include "apps/linkwork/commands.h"

namespace linkwork::cli {

Command export_command(CLI::App& program);

}  // namespace linkwork::cli
