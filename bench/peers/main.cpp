// Linkwork and the engines people use today, side by side on the same mechanisms: results as JSON.

#include <dlfcn.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "bench/peers/experiments.h"
#include "linkwork/version.h"

namespace linkwork::bench {
namespace {

using Json = nlohmann::json;

std::string cpu() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

/// Simbody computes with whichever BLAS the system has chosen.
std::string blas() {
  std::error_code trouble;
  const auto chosen = std::filesystem::read_symlink("/etc/alternatives/libblas.so.3-x86_64-linux-gnu", trouble);
  if (trouble) return "unknown";
  const std::string name = chosen.parent_path().filename();
  return name == "blas" ? "reference BLAS" : name;
}

/// Each engine in a module of its own, which keeps its symbols to itself: they are compiled with other settings of Eigen.
std::vector<Peer> load_peers(const std::vector<std::string>& names, Json& missing) {
  std::vector<Peer> peers;
  for (const std::string& name : names) {
    const std::string file = std::string(LINKWORK_PEER_MODULES) + "/linkwork_peer_" + name + ".so";
    void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!module) {
      missing.push_back({{"engine", name}, {"why", dlerror()}});
      fmt::print(stderr, "{} is left out: {}\n", name, dlerror() ? "it cannot be loaded" : "no module of it");
      continue;
    }
    const auto offer = reinterpret_cast<PeerFunction>(dlsym(module, "linkwork_peer"));
    for (const Peer& peer : offer()) peers.push_back(peer);
  }
  return peers;
}

Json described(const std::vector<Peer>& peers) {
  Json out = Json::array();
  out.push_back({{"name", "Linkwork"},
                 {"version", LINKWORK_VERSION},
                 {"constraints", "hard"},
                 {"evaluation", "EquationsOfMotion::evaluate"},
                 {"stepping", "rk4 or dopri45, with projection"}});
  for (const Peer& peer : peers)
    out.push_back({{"name", peer.name},
                   {"version", peer.version},
                   {"constraints", peer.constraints},
                   {"evaluation", peer.evaluation},
                   {"stepping", peer.stepping},
                   {"agreement", peer.agreement}});
  return out;
}

void write(const Json& report, const std::filesystem::path& out) {
  if (out.has_parent_path()) std::filesystem::create_directories(out.parent_path());
  std::ofstream file(out);
  file << report.dump(1) << "\n";
  file.close();
  if (!file) throw std::runtime_error("cannot write " + out.string());
}

int run(Plan plan, const std::vector<std::string>& engines, const std::vector<std::string>& parts,
        const std::filesystem::path& out) {
  const auto began = std::chrono::steady_clock::now();
  Json report{{"format", "linkwork-peers-1"}, {"quick", plan.quick}, {"missing", Json::array()}};
  plan.peers = load_peers(engines, report["missing"]);
  report["machine"] = {{"cpu", cpu()}, {"cores", std::thread::hardware_concurrency()}, {"blas", blas()}};
  report["compiler"] = std::string("g++ ") + __VERSION__;
  report["engines"] = described(plan.peers);
  const std::pair<const char*, Json (*)(const Plan&)> experiments[] = {
      {"evaluations", time_evaluations}, {"accuracy", compare_accuracy},         {"loops", run_loops},
      {"redundant", close_redundantly},  {"inconsistent", close_inconsistently}, {"singular", start_singular}};
  for (const auto& [name, measure] : experiments) report[name] = Json::array();
  // Written after each: an engine that ends the program takes only its own experiment along.
  for (const auto& [name, measure] : experiments) {
    if (!parts.empty() && std::ranges::find(parts, name) == parts.end()) continue;
    report[name] = measure(plan);
    report["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    write(report, out);
  }
  return 0;
}

}  // namespace
}  // namespace linkwork::bench

int main(int argc, char** argv) {
  CLI::App app{"Linkwork and other engines side by side on the same mechanisms."};
  linkwork::bench::Plan plan;
  std::vector<std::string> engines{"simbody", "mujoco", "dart"}, parts;
  std::filesystem::path out = "peers.json";
  app.add_flag("--quick", plan.quick, "small sizes and few repetitions only");
  app.add_option("--engines", engines, "which to compare with")->delimiter(',');
  app.add_option("--models", plan.models, "only these models")->delimiter(',');
  app.add_option("--parts", parts, "only these: evaluations, accuracy, loops, redundant, inconsistent, singular")->delimiter(',');
  app.add_option("--rounds", plan.rounds, "interleaved samples of each evaluation")->check(CLI::PositiveNumber);
  app.add_option("--out", out, "the JSON file to write")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (plan.quick && app.count("--rounds") == 0) plan.rounds = 5;
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  try {
    return linkwork::bench::run(plan, engines, parts, out);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
