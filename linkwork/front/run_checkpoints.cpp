#include "linkwork/front/run_checkpoints.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/front/mechanism_parts.h"
#include "linkwork/io/durable_file.h"
#include "linkwork/version.h"

namespace linkwork {

namespace {

namespace fs = std::filesystem;

/// Of a run, if the interval is not given.
constexpr double kCheckpoints = 10.0, kMostCheckpoints = 1e9;

std::vector<std::string> import_texts(const ImportOptions& importing) {
  std::vector<std::string> texts;
  if (importing.loops) texts.push_back("loops=" + importing.loops->string());
  if (importing.fixed_base) texts.emplace_back("fixed-base");
  for (const auto& [name, folder] : importing.packages) texts.push_back(fmt::format("package={}={}", name, folder.string()));
  return texts;
}

/// Reads the model once more, to have the texts of its files.
Checkpoint contents_of(const ModelOrigin& origin, const RunOptions& options, const StartState& start, const Spec& spec) {
  Checkpoint contents;
  contents.program = LINKWORK_VERSION;
  contents.request.model = (fs::absolute(origin.folder / origin.file)).lexically_normal().string();
  const auto keep = [&](const fs::path& file, const std::string& text) {
    const std::string name = file.string();
    if (std::ranges::find(contents.files, name, &Checkpoint::ModelText::file) == contents.files.end())
      contents.files.push_back({name, text});
    return text;
  };
  ModelOrigin absolute = origin;
  absolute.folder.clear();
  absolute.file = contents.request.model;
  if (origin.text) keep(absolute.file, *origin.text);
  absolute.read([&](const fs::path& file) { return keep(file, read_text_file(file)); });
  for (const auto& [name, value] : origin.set) contents.request.set.push_back(name + "=" + value);
  contents.request.settings = setting_texts(options);
  contents.request.import = import_texts(origin.importing);
  contents.request.start = start;
  contents.request.every = options.checkpoint_every.value_or(spec.settings.end / kCheckpoints);
  return contents;
}

}  // namespace

RunCheckpoints::RunCheckpoints(const Mechanism& mechanism, const RunOptions& options, const StartState& start, const Spec& spec,
                               const std::vector<std::string>& columns)
    : file_(fs::absolute(*options.checkpoint)) {
  const Place place{"checkpoint", 0, 0};
  const ModelOrigin* const origin = mechanism.parts().origin.get();
  if (origin == nullptr)
    throw InputError(place, "forces and modules of a program cannot be saved", "a model that is in files or in a text");
  if (!options.out) throw InputError(place, "rows must be written as they come", "out, a folder for the results");
  contents_ = contents_of(*origin, options, start, spec);
  if (!(spec.settings.end / every() <= kMostCheckpoints))
    throw InputError({"checkpoint_every", 0, 0}, fmt::format("is {}", every()), "a larger interval");
  const fs::path folder = fs::absolute(*options.out).lexically_normal();
  fs::create_directories(folder);
  contents_.request.out = folder.string();
  check_checkpoint_target(file_);
  check_durable_file(file_);
  remove_durable_file(file_);
  trajectory_.emplace(folder / "trajectory.csv", columns);
}

void RunCheckpoints::save(const SavedRun& run) {
  const TrajectoryFile::Extent& written = trajectory_->sync();
  contents_.rows = written.rows;
  contents_.bytes = written.bytes;
  contents_.checked = written.checked;
  contents_.run = run;
  write_durable_file(file_, checkpoint_text(contents_));
}

}  // namespace linkwork
