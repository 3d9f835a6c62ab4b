// Any bytes must give a table or an InputError; rows have as many numbers as there are columns.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>

#include "linkwork/io/trajectory_reader.h"
#include "linkwork/model/input_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream stream(std::string(reinterpret_cast<const char*>(data), size));
  std::set<std::size_t> sizes;
  try {
    const auto columns =
        linkwork::read_trajectory(stream, "trajectory.csv", [&](std::span<const double> row) { sizes.insert(row.size()); });
    if (!sizes.empty() && sizes != std::set<std::size_t>{columns.size()}) std::abort();
  } catch (const linkwork::InputError&) {
    // Most are none.
  }
  return 0;
}
