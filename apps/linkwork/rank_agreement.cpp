#include "apps/linkwork/rank_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

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

void refuse_trouble(Transport& world, const std::string& own) {
  const std::vector<Said> troubles = all_said(world, own);
  if (troubles.empty()) return;
  const Said& first = troubles.front();
  const bool all_alike = std::ssize(troubles) == world.size() &&
                         std::ranges::all_of(troubles, [&](const Said& other) { return other.text == first.text; });
  throw InputError({}, all_alike ? first.text : fmt::format("rank {}: {}", first.rank, first.text));
}

/// The name of an input, without its checksum.
std::string name_in(const std::string& line) { return line.substr(line.find(' ') + 1); }

/// Each rank compares what it was given with what the first one tells.
void refuse_differences(Transport& world, const std::vector<std::string>& own) {
  const std::vector<std::string> first = lines_of(said_by_first(world, fmt::format("{}", fmt::join(own, "\n"))));
  const auto [ours, theirs] = std::ranges::mismatch(first, own);
  std::string other;
  if (ours != first.end() || theirs != own.end()) other = name_in(ours != first.end() ? *ours : *theirs);
  if (const std::vector<Said> said = all_said(world, other); !said.empty())
    throw InputError({}, fmt::format("rank {} was given other input than rank 0: {}", said.front().rank, said.front().text),
                     "the same command, options and files for all ranks");
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
  refuse_trouble(world, trouble);
  refuse_differences(world, inputs.lines());
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
