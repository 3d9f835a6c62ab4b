#include <exception>
#include <new>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/program.h"
#include "apps/linkwork/terminal.h"
#include "linkwork/model/input_error.h"

namespace linkwork::cli {
namespace {

int exit_code(int argc, char** argv) {
  try {
    return understood(argc, argv)();
  } catch (const InputError& error) {
    complain_of(error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    complain_of("out of memory");
  } catch (const std::exception& error) {
    complain_of(error.what());
  }
  return kFailed;
}

}  // namespace
}  // namespace linkwork::cli

int main(int argc, char** argv) {
  linkwork::cli::prepare_streams();
  const int code = linkwork::cli::exit_code(argc, argv);
  const bool printed = linkwork::cli::finish_printing();
  return code == linkwork::cli::kDone && !printed ? linkwork::cli::kFailed : code;
}
