#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linkwork/io/start_state.h"
#include "linkwork/simulation/saved_run.h"

namespace linkwork {

/// Everything 'linkwork resume' needs: what was asked for, the files of the model, where the run was, and what it had written.
struct Checkpoint {
  /// The command line that began the run, with paths that hold anywhere.
  struct Request {
    std::string model;
    std::vector<std::string> set;
    std::vector<std::pair<std::string, std::string>> settings;  // options and their texts, "--end"
    std::string out;
    bool no_report = false;
    double every = 0.0;
    StartState start = {};                 // of --start-from
    std::vector<std::string> import = {};  // how a robot file is read
  };
  struct ModelText {
    std::string file;
    std::string text;
  };

  std::string program;  // version
  Request request;
  std::vector<ModelText> files;
  long rows = 0;              // of the trajectory file,
  std::uint64_t bytes = 0;    // its size,
  std::uint64_t checked = 0;  // and checksum
  SavedRun run;
};

/// One line with format, length and checksum, then a JSON object. Numbers are read back as the same doubles.
std::string checkpoint_text(const Checkpoint& checkpoint);
/// Throws InputError that says what is wrong with it: not a checkpoint, of another format, cut short, damaged, or with numbers
/// that no run has. What depends on the model is checked by those who go on with it. `file` is for the message.
Checkpoint parse_checkpoint(std::string_view text, const std::string& file);

/// A run alone, inputs that were set included, and the same again. Throws InputError for a text that is none.
std::string saved_run_text(const SavedRun& run);
SavedRun parse_saved_run(std::string_view text);

/// The text of such a file, of which only the first bytes are read if it does not begin like one. Throws InputError.
std::string read_checkpoint_file(const std::filesystem::path& file);

/// Throws InputError if there is something in the file's place, or in that of its .part, that is not a checkpoint: it would be
/// lost.
void check_checkpoint_target(const std::filesystem::path& file);

}  // namespace linkwork
