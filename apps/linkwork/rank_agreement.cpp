#include "apps/linkwork/rank_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <sstream>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/terminal.h"
#include "linkwork/io/durable_file.h"
#include "linkwork/model/input_error.h"
#include "linkwork/model/visible.h"
#include "linkwork/transport/mpi_world.h"
#include "linkwork/transport/text.h"
#include "linkwork/version.h"

namespace linkwork::cli {
namespace {

/// The first line is trouble, or empty; then inputs.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void refuse_trouble(const std::vector<std::vector<std::string>>& ranks) {
  const auto has_trouble = [](const std::vector<std::string>& lines) { return !lines.front().empty(); };
  const auto first = std::ranges::find_if(ranks, has_trouble);
  if (first == ranks.end()) return;
  const bool all_alike = std::ranges::all_of(ranks, [&](const auto& lines) { return lines.front() == first->front(); });
  throw InputError({}, all_alike ? first->front() : fmt::format("rank {}: {}", first - ranks.begin(), first->front()));
}

/// The name of an input, without its checksum.
std::string name_in(const std::string& line) { return line.substr(line.find(' ') + 1); }

void refuse_differences(const std::vector<std::vector<std::string>>& ranks) {
  for (std::size_t r = 1; r < ranks.size(); ++r) {
    const auto [ours, theirs] = std::ranges::mismatch(ranks[0], ranks[r]);
    if (ours == ranks[0].end() && theirs == ranks[r].end()) continue;
    throw InputError(
        {}, fmt::format("rank {} was given other input than rank 0: {}", r, name_in(ours != ranks[0].end() ? *ours : *theirs)),
        "the same command, options and files for all ranks");
  }
}

}  // namespace

void Inputs::add(std::string name, std::string_view contents) { all_.emplace_back(std::move(name), checksum(contents)); }

std::vector<std::string> Inputs::lines() const {
  std::vector<std::string> lines;
  for (const auto& [name, sum] : all_) lines.push_back(fmt::format("{:016x} {}", sum, visible(name)));
  return lines;
}

void together(Transport& world, const std::function<void(Inputs& inputs)>& work) {
  Inputs inputs;
  if (world.size() == 1) return work(inputs);
  std::string trouble;
  try {
    work(inputs);
  } catch (const InputError& error) {
    trouble = error.what();  // one line: see visible()
  }
  std::vector<std::vector<std::string>> ranks;
  for (const std::string& text : gather_texts(world, fmt::format("{}\n{}\n", trouble, fmt::join(inputs.lines(), "\n"))))
    ranks.push_back(lines_of(text));
  refuse_trouble(ranks);
  refuse_differences(ranks);
}

int on_ranks(const std::string& command, const std::function<int(Transport& world)>& work) {
  MpiWorld world;
  const auto tell_alone = [&](const char* reason) {
    if (!under_mpirun()) return;
    complain("rank {}: {}", world.transport().rank(), reason);
    std::fflush(stderr);
  };
  try {
    together(world.transport(), [&](Inputs& inputs) {
      inputs.add("the program's version", LINKWORK_VERSION);
      inputs.add("the command", command);
    });
    return work(world.transport());
  } catch (const InputError& error) {
    if (world.transport().rank() == 0) complain_of(error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    tell_alone("out of memory");
    throw;
  } catch (const std::exception& error) {
    tell_alone(error.what());
    throw;  // ends all ranks: see MpiWorld
  }
}

}  // namespace linkwork::cli
