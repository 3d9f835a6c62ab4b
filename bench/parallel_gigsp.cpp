// Times the Gram-Schmidt process of the generalized inverse on threads, or on MPI ranks when started by mpirun, and tells where
// spreading it pays. The sizes are those of [Arabyan1998], and one ten times larger. './dev bench-gigsp' runs it both ways.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "linkwork/transport/gram_schmidt_timing.h"
#include "linkwork/transport/mpi_world.h"

namespace linkwork {
namespace {

struct Size {
  int m, n;
};

struct Arguments {
  std::vector<Size> sizes{{150, 240}, {300, 420}, {420, 480}, {4200, 4800}};
  int max_threads = 4;
  int repeat = 5;
  std::string append;  // JSON lines
  std::string report;  // the same file, to be shown
};

constexpr const char* kUsage =
    "linkwork_bench_gigsp [--sizes MxN,...] [--max-threads N] [--repeat N] [--append FILE]   measure; under mpirun on its ranks\n"
    "linkwork_bench_gigsp --report FILE                                                       show what was appended to FILE\n";

int number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1)
    throw std::invalid_argument(fmt::format("'{}' is not a positive whole number", text));
  return value;
}

std::vector<Size> sizes_of(const std::string& list) {
  std::vector<Size> sizes;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    const std::string item = list.substr(at, comma - at);
    const std::size_t times = std::min(item.find('x'), item.size());
    sizes.push_back({number(item.substr(0, times)), number(times < item.size() ? item.substr(times + 1) : "")});
    at = comma + 1;
  }
  return sizes;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) throw std::invalid_argument(option + " needs a value");
    const std::string value = argv[i + 1];
    if (option == "--sizes")
      arguments.sizes = sizes_of(value);
    else if (option == "--max-threads")
      arguments.max_threads = number(value);
    else if (option == "--repeat")
      arguments.repeat = number(value);
    else if (option == "--append")
      arguments.append = value;
    else if (option == "--report")
      arguments.report = value;
    else
      throw std::invalid_argument("unknown option " + option);
  }
  return arguments;
}

/// One message a row is measured at the sizes of the thesis only: at the large one it takes minutes and tells nothing new.
std::vector<GramSchmidt> algorithms_for(const Size& size) {
  if (size.m > 1000) return {GramSchmidt::kSerial, GramSchmidt::kBlocks};
  return {GramSchmidt::kSerial, GramSchmidt::kRowsStrip, GramSchmidt::kRowsCyclic, GramSchmidt::kBlocks};
}

int repetitions_for(const Size& size, int wanted) { return size.m > 1000 ? std::min(wanted, 2) : wanted; }

nlohmann::json to_json(const GramSchmidtTiming& timing, const std::string& ranks_are) {
  return {{"algorithm", name_of(timing.algorithm)},
          {"m", timing.m},
          {"n", timing.n},
          {"on", ranks_are},
          {"ranks", timing.ranks},
          {"seconds", timing.seconds}};
}

void write(const Arguments& arguments, const std::vector<GramSchmidtTiming>& timings, const std::string& ranks_are) {
  std::ofstream file;
  if (!arguments.append.empty()) {
    file.open(arguments.append, std::ios::app);
    if (!file) throw std::runtime_error("cannot write " + arguments.append);
  }
  std::ostream& out = arguments.append.empty() ? std::cout : file;
  for (const GramSchmidtTiming& timing : timings) out << to_json(timing, ranks_are).dump() << '\n';
}

void measure_on_threads(const Arguments& arguments) {
  std::vector<int> threads;
  for (int count = 1; count <= arguments.max_threads; ++count) threads.push_back(count);
  for (const Size& size : arguments.sizes) {
    std::cerr << fmt::format("{} x {} on 1 to {} threads\n", size.m, size.n, arguments.max_threads);
    const std::vector<GramSchmidt> algorithms = algorithms_for(size);
    const int repetitions = repetitions_for(size, arguments.repeat);
    write(arguments, time_gram_schmidt_on_threads(size.m, size.n, threads, algorithms, repetitions), "threads");
  }
}

void measure_on_ranks(const Arguments& arguments, Transport& world) {
  for (const Size& size : arguments.sizes) {
    if (world.rank() == 0) std::cerr << fmt::format("{} x {} on {} MPI ranks\n", size.m, size.n, world.size());
    const MatX<double> rows = random_rows(size.m, size.n);
    std::vector<GramSchmidtTiming> timings;
    for (GramSchmidt algorithm : algorithms_for(size))
      if (algorithm != GramSchmidt::kSerial)
        timings.push_back(time_gram_schmidt(world, algorithm, rows, repetitions_for(size, arguments.repeat)));
    if (world.rank() == 0) write(arguments, timings, "MPI ranks");
  }
}

/// One line an algorithm and kind of rank: time by number of ranks, and what the best gains.
void report(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::map<std::pair<int, int>, std::map<std::pair<std::string, std::string>, std::map<int, double>>> times;
  std::set<int> ranks;
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json entry = nlohmann::json::parse(line);
    times[{entry["m"], entry["n"]}][{entry["algorithm"], entry["on"]}][entry["ranks"]] = entry["seconds"];
    ranks.insert(entry["ranks"].get<int>());
  }
  std::string head = fmt::format("{:12}{:24}", "rows x cols", "process");
  for (int count : ranks) head += fmt::format("{:>11}", fmt::format("{} [ms]", count));
  fmt::print("{}{:>6}{:>10}{:>11}\n", head, "best", "speed-up", "to serial");
  for (const auto& [size, by_algorithm] : times) {
    const auto serial = by_algorithm.find({"serial", "threads"});
    for (const auto& [process, by_ranks] : by_algorithm) {
      fmt::print("{:12}{:24}", fmt::format("{} x {}", size.first, size.second),
                 process.first == "serial" ? process.first : process.first + ", " + process.second);
      auto best = by_ranks.begin();
      for (int count : ranks) {
        const auto found = by_ranks.find(count);
        fmt::print("{:>11}", found == by_ranks.end() ? std::string("-") : fmt::format("{:.2f}", 1e3 * found->second));
        if (found != by_ranks.end() && found->second < best->second) best = found;
      }
      fmt::print("{:>6}{:>10}{:>11}\n", best->first,
                 by_ranks.contains(1) ? fmt::format("{:.2f}", by_ranks.at(1) / best->second) : std::string("-"),
                 serial != by_algorithm.end() ? fmt::format("{:.2f}", serial->second.at(1) / best->second) : std::string("-"));
    }
  }
  fmt::print(
      "\nbest: number of threads or ranks with the shortest time; speed-up: of that over one; to serial: over the process row "
      "by\n"
      "row, on one thread and without messages. This machine runs {} threads at a time.\n",
      std::thread::hardware_concurrency());
}

int run(int argc, char** argv) {
  MpiWorld world;
  const Arguments arguments = parse(argc, argv);
  if (!arguments.report.empty())
    report(arguments.report);
  else if (under_mpirun())
    measure_on_ranks(arguments, world.transport());
  else
    measure_on_threads(arguments);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace linkwork

int main(int argc, char** argv) {
  try {
    return linkwork::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n' << linkwork::kUsage;
    return 2;
  }
}
