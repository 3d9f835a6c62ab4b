#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linkwork/transport/transport.h"

namespace linkwork::cli {

/// What a rank was given, by name and checksum: files, options.
class Inputs {
 public:
  void add(std::string name, std::string_view contents);
  /// A line each.
  std::vector<std::string> lines() const;

 private:
  std::vector<std::pair<std::string, std::uint64_t>> all_;
};

/// Does something on every rank and finds out, before anything is computed together, whether all came through it and were given
/// the same. If not, every rank throws the same InputError, which says who lacks what.
void together(Transport& world, const std::function<void(Inputs& inputs)>& work);

/// The ranks that mpirun has started do something; the exit code. All ranks are made sure to do the same command. An InputError
/// is the same on all of them, and told once; any other failure is one of this rank alone: it is told, and ends all of them.
int on_ranks(const std::string& command, const std::function<int(Transport& world)>& work);

}  // namespace linkwork::cli
