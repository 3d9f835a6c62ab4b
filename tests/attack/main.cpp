#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "linkwork/io/model_file.h"
#include "tests/attack/judge.h"
#include "tests/attack/random_assembly.h"
#include "tests/attack/random_mechanism.h"

namespace {

using namespace linkwork;
using namespace linkwork::test;

struct Options {
  std::uint64_t seed = 1;
  long count = 2000;
  double seconds = 0.0;  // > 0: in place of the count
  int jobs = 0;
  double tolerance = 1e-8;
  unsigned patience = 60;  // s for a mechanism
  std::vector<std::string> modes;
  std::string out = "attack-failures";
  std::vector<std::string> files;
  bool units = false;
  bool assemblies = false;  // cut into modules
};

Spec mechanism(const Options& options, std::uint64_t seed) {
  const Spec spec = random_mechanism(seed);
  return options.units ? in_units(spec, random_units(seed)) : spec;
}

/// Words of the same kind become the same: names, numbers and what stands in quotes are taken out.
std::string kind_of_words(const std::string& words) {
  std::string result;
  bool quoted = false;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const char c = words[k];
    if (c == '\'') {
      quoted = !quoted;
      if (quoted) result += "'..'";
      continue;
    }
    if (quoted) continue;
    const bool in_number = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (in_number) {
      if (result.empty() || result.back() != '#') result += '#';
      while (k + 1 < words.size() && (std::isdigit(static_cast<unsigned char>(words[k + 1])) != 0 || words[k + 1] == '.' ||
                                      words[k + 1] == 'e' || (words[k] == 'e' && words[k + 1] == '-')))
        ++k;
      continue;
    }
    result += c == '\n' ? ' ' : c;
  }
  // Lists of rows differ in their names only.
  for (const char* list : {"row ", "rows "}) {
    const std::size_t from = result.find(list), to = result.find(" add", from == std::string::npos ? 0 : from);
    if (from != std::string::npos && to != std::string::npos) result.replace(from, to - from, "rows ..");
  }
  return result.substr(0, 220);
}

struct Tally {
  long right = 0, refused = 0, wrong = 0;
  double worst_right = 0.0;
  std::map<std::string, std::pair<long, std::uint64_t>> words;  // how often, and a seed
  std::vector<std::pair<std::uint64_t, std::string>> failures;
};

struct Report {
  long mechanisms = 0, sensitive = 0;
  std::map<std::string, std::pair<long, std::uint64_t>> left_out;  // how often, and a seed
  std::map<std::string, Tally> modes;
  std::set<std::uint64_t> bad;

  void add(std::uint64_t seed, const std::vector<std::string>& fields) {
    if (fields[0] == "end") {
      ++mechanisms;
      if (fields[2] == "sensitive") ++sensitive;
      if (fields[1].empty()) return;
      auto& [count, example] = left_out.try_emplace(fields[1], 0, seed).first->second;
      ++count;
      return;
    }
    Tally& tally = modes[fields[0]];
    const double error = std::strtod(fields[2].c_str(), nullptr);
    if (fields[1] == "right") {
      ++tally.right;
      tally.worst_right = std::max(tally.worst_right, error);
    } else if (fields[1] == "refused") {
      ++tally.refused;
      auto& [count, example] = tally.words.try_emplace(kind_of_words(fields[3]), 0, seed).first->second;
      ++count;
    } else {
      ++tally.wrong;
      tally.failures.emplace_back(seed, fmt::format("{:.1e} {}", error, fields[3]));
      bad.insert(seed);
    }
  }

  void print(const std::vector<std::string>& order) const {
    long out = 0;
    for (const auto& [why, count] : left_out) out += count.first;
    fmt::print("{} mechanisms, {} judged\n", mechanisms, mechanisms - out);
    if (sensitive > 0)
      fmt::print("  held to the rounding of their own numbers, which is more than the tolerance: {}\n", sensitive);
    for (const auto& [why, count] : left_out) fmt::print("  left out as {}: {} (seed {})\n", why, count.first, count.second);
    fmt::print("\n{:<22} {:>7} {:>8} {:>6}  {:>13}\n", "mode", "right", "refused", "wrong", "worst right");
    for (const std::string& mode : order) {
      const auto at = modes.find(mode);
      if (at == modes.end()) continue;
      const Tally& tally = at->second;
      fmt::print("{:<22} {:>7} {:>8} {:>6}  {:>13.1e}\n", mode, tally.right, tally.refused, tally.wrong, tally.worst_right);
    }
    for (const std::string& mode : order) {
      const auto at = modes.find(mode);
      if (at == modes.end() || (at->second.words.empty() && at->second.failures.empty())) continue;
      fmt::print("\n{}\n", mode);
      for (const auto& [words, count] : at->second.words)
        fmt::print("  refused {:>4} (seed {}): {}\n", count.first, count.second, words);
      auto failures = at->second.failures;
      std::ranges::sort(failures);
      constexpr std::size_t kShown = 40;
      for (std::size_t k = 0; k < std::min(failures.size(), kShown); ++k)
        fmt::print("  wrong seed {}: {}\n", failures[k].first, failures[k].second);
      if (failures.size() > kShown) fmt::print("  and {} more\n", failures.size() - kShown);
    }
  }
};

const char* text_of(Verdict::Kind kind) {
  return kind == Verdict::Kind::kRight ? "right" : kind == Verdict::Kind::kRefused ? "refused" : "wrong";
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\t', ' ');
  return text;
}

/// Modules against one piece, in each of the ways.
std::vector<std::string> compared_lines(std::uint64_t seed, const Options& options) {
  std::vector<std::string> lines;
  std::string left_out;
  for (const std::string& mode : options.modes) {
    const AssemblyVerdict result = compare_with_one_piece(assembly_in(mode, seed), options.tolerance);
    if (result.kind == AssemblyVerdict::Kind::kLeftOut) {
      left_out = "not run in one piece, or near a singular position";
      continue;
    }
    const char* const verdict = result.kind == AssemblyVerdict::Kind::kSame      ? "right"
                                : result.kind == AssemblyVerdict::Kind::kRefused ? "refused"
                                                                                 : "wrong";
    lines.push_back(fmt::format("{}\t{}\t{}\t{}", mode, verdict, result.difference, one_line(result.words)));
  }
  lines.push_back(fmt::format("end\t{}", lines.empty() ? left_out : ""));
  return lines;
}

std::vector<std::string> judged_lines(const Spec& spec, const Options& options) {
  std::vector<std::string> lines;
  const Judgement judgement = judge(spec, options.modes, options.tolerance);
  for (const Verdict& v : judgement.verdicts)
    lines.push_back(fmt::format("{}\t{}\t{}\t{}", v.mode, text_of(v.kind), v.error, one_line(v.words)));
  lines.push_back(fmt::format("end\t{}\t{}", judgement.left_out, judgement.is_sensitive ? "sensitive" : ""));
  return lines;
}

/// A process of its own that judges every jobs-th seed: what crashes or hangs takes only itself down.
struct Worker {
  pid_t pid = -1;
  int pipe = -1;
  std::uint64_t next = 0;  // seed
  std::string buffer;
};

void work(const Options& options, std::uint64_t from, std::uint64_t end, int out) {
  for (std::uint64_t seed = from; seed < end; seed += static_cast<std::uint64_t>(options.jobs)) {
    const auto say = [&](const std::string& line) {
      const std::string text = fmt::format("{}\t{}\n", seed, line);
      if (write(out, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(0);
    };
    alarm(options.patience);
    say("begin");
    for (const std::string& line :
         options.assemblies ? compared_lines(seed, options) : judged_lines(mechanism(options, seed), options))
      say(line);
  }
}

Worker start(const Options& options, std::uint64_t from, std::uint64_t end) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    work(options, from, end, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  return {pid, ends[0], from, {}};
}

std::vector<std::string> split(const std::string& line, char by = '\t') {
  std::vector<std::string> fields;
  std::size_t from = 0;
  for (std::size_t at; (at = line.find(by, from)) != std::string::npos; from = at + 1)
    fields.push_back(line.substr(from, at - from));
  fields.push_back(line.substr(from));
  return fields;
}

void attack(const Options& options, Report& report) {
  const auto started = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count(); };
  const std::uint64_t end =
      options.seconds > 0.0 ? ~std::uint64_t(0) - 1000 : options.seed + static_cast<std::uint64_t>(options.count);
  std::vector<Worker> workers;
  for (int k = 0; k < options.jobs; ++k) workers.push_back(start(options, options.seed + static_cast<std::uint64_t>(k), end));
  while (std::ranges::any_of(workers, [](const Worker& w) { return w.pipe >= 0; })) {
    std::vector<pollfd> polled;
    for (const Worker& worker : workers) polled.push_back({worker.pipe, POLLIN, 0});
    poll(polled.data(), polled.size(), 1000);
    const bool over = options.seconds > 0.0 && elapsed() > options.seconds;
    for (std::size_t k = 0; k < workers.size(); ++k) {
      Worker& worker = workers[k];
      if (worker.pipe < 0) continue;
      if (over) {
        kill(worker.pid, SIGKILL);
        waitpid(worker.pid, nullptr, 0);
        close(worker.pipe);
        worker.pipe = -1;
        continue;
      }
      if ((polled[k].revents & (POLLIN | POLLHUP)) == 0) continue;
      char chunk[65536];
      const ssize_t size = read(worker.pipe, chunk, sizeof chunk);
      if (size > 0) {
        worker.buffer.append(chunk, static_cast<std::size_t>(size));
        for (std::size_t at; (at = worker.buffer.find('\n')) != std::string::npos; worker.buffer.erase(0, at + 1)) {
          std::vector<std::string> fields = split(worker.buffer.substr(0, at));
          const std::uint64_t seed = std::stoull(fields[0]);
          fields.erase(fields.begin());
          worker.next = seed;
          if (fields[0] == "begin") continue;
          if (fields[0] == "end") worker.next = seed + static_cast<std::uint64_t>(options.jobs);
          report.add(seed, fields);
        }
        continue;
      }
      int status = 0;
      waitpid(worker.pid, &status, 0);
      close(worker.pipe);
      worker.pipe = -1;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
      const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      report.add(worker.next, {"crash", "wrong", "0",
                               signal == SIGALRM ? "no end" : fmt::format("crash: {}", signal ? strsignal(signal) : "abort")});
      report.add(worker.next, {"end", "", ""});
      const std::uint64_t next = worker.next + static_cast<std::uint64_t>(options.jobs);
      if (next < end) worker = start(options, next, end);
    }
  }
}

int judge_files(const Options& options) {
  int wrong = 0;
  for (const std::string& file : options.files) {
    const Spec spec = read_model_file(file);
    const Judgement j = judge(spec, options.modes, options.tolerance);
    fmt::print(
        "{}: {} rows, rank {}, {} degrees of freedom, singular values {:.1e} and {:.1e}, determined {:.1e}, sensitivity "
        "{:.1e}{}\n",
        file, j.rows, j.rank, j.dof, j.smallest_counted, j.largest_left_out, j.determined, j.sensitivity,
        j.left_out.empty() ? "" : "; left out: " + j.left_out);
    for (const Verdict& v : j.verdicts) {
      fmt::print("  {:<22} {:<8} {:.2e} {}\n", v.mode, text_of(v.kind), v.error, v.words);
      if (v.kind == Verdict::Kind::kWrong) ++wrong;
    }
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Random mechanisms, judged by a dense solution of Newton's and Euler's equations"};
  app.add_option("--seed", options.seed, "of the first mechanism");
  app.add_option("--count", options.count, "how many mechanisms");
  app.add_option("--seconds", options.seconds, "go on for this long instead");
  app.add_option("--jobs", options.jobs, "processes; default: one per core");
  app.add_option("--tolerance", options.tolerance, "relative error of accelerations from which they are wrong");
  app.add_option("--patience", options.patience, "seconds for one mechanism");
  std::string modes;
  app.add_option("--modes", modes,
                 fmt::format("ways to solve, separated by commas; default: {}", fmt::join(attack_modes(), ",")));
  app.add_option("--out", options.out, "folder for the mechanisms that fail");
  app.add_option("files", options.files, "judge these model files instead");
  app.add_flag("--units", options.units, "each mechanism in units of its own: masses 1e-12 to 1e12, lengths 1e-9 to 1e9");
  app.add_flag("--assemblies", options.assemblies,
               fmt::format("cut each mechanism into modules, and compare a short run of them with one piece; modes: {}",
                           fmt::join(assembly_modes(), ",")));
  bool print = false;
  app.add_flag("--print", print, "print the mechanism of the seed, and judge nothing");
  CLI11_PARSE(app, argc, argv);
  if (options.jobs <= 0) options.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  options.modes = !modes.empty() ? split(modes, ',') : options.assemblies ? assembly_modes() : attack_modes();
  if (print) {
    std::cout << to_toml(options.assemblies ? random_assembly(options.seed, true) : mechanism(options, options.seed));
    return 0;
  }
  if (!options.files.empty()) return judge_files(options) > 0 ? 1 : 0;

  Report report;
  attack(options, report);
  std::vector<std::string> order = options.modes;
  order.emplace_back("crash");
  report.print(order);
  if (report.bad.empty()) return 0;
  if (options.assemblies) return 1;
  std::filesystem::create_directories(options.out);
  for (std::uint64_t seed : report.bad)
    std::ofstream(std::filesystem::path(options.out) / fmt::format("{}.toml", seed)) << to_toml(mechanism(options, seed));
  fmt::print("\n{} mechanisms that fail are in {}\n", report.bad.size(), options.out);
  return 1;
}
