#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "linkwork/front/serve.h"
#include "linkwork/io/model_file.h"
#include "studies/catalog.h"
#include "studies/module_run.h"
#include "studies/network/far_host.h"
#include "studies/network/relay.h"

namespace linkwork::studies {
namespace {

namespace fs = std::filesystem;

/// A folder for keys and models, gone with it.
class Scratch {
 public:
  Scratch() : path_(fs::temp_directory_path() / fmt::format("linkwork-network-{:08x}", std::random_device()())) {
    fs::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }

 private:
  fs::path path_;
};

/// The model here, and with modules on a host; the files of those.
struct Mechanism {
  std::string name;
  std::string here, there;  // texts
  fs::path file;            // where they are read from
  std::vector<fs::path> parts;
  std::vector<std::string> columns;  // by which errors are told
  double end = 1.0;
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

Mechanism ready(const StudyContext& context, const std::string& name, const std::string& model, const std::string& part,
                double end, std::vector<std::string> columns) {
  const fs::path file = context.models / (model + ".toml");
  const std::string here = read_text_file(file);
  const std::string there =
      replaced(here, fmt::format("file = \"parts/{}.toml\"", part), fmt::format("remote = \"linkwork://localhost:1/{}\"", part));
  return {name, here, there, file, {context.models / "parts" / (part + ".toml")}, std::move(columns), end};
}

constexpr const char* kRobot = R"toml(linkwork = 1
[parameters]
x = 0.0
side = 1.0
[[body]]
name = "upper"
solid = { shape = "rod", from = [0, 0, 0], to = [1, 0, 0], mass = 2.0 }
[[body]]
name = "lower"
solid = { shape = "rod", from = [0, 0, 0], to = [1, 0, 0], mass = 1.0 }
[[joint]]
name = "shoulder"
type = "revolute"
parent = { body = "ground", at = ["x", 0, 0] }
child = { body = "upper" }
position = "pi/2 + side*pi/6"
damping = 2.0
stiffness = 60.0
rest = "pi/2 + side*pi/6"
[[joint]]
name = "elbow"
type = "revolute"
parent = { body = "upper", at = [1, 0, 0] }
child = { body = "lower" }
position = "-side*pi/3"
damping = 1.0
[[force]]
type = "torque"
joint = "elbow"
value = "side*3*sin(4*t)"
[[port]]
name = "hand"
body = "lower"
at = [1, 0, 0]
)toml";

/// Two arms of two links that hold a bar between them; each arm is served.
Mechanism two_robots(const Scratch& scratch) {
  std::string text = "linkwork = 1\nname = \"two-robots\"\n[settings]\nend = 1\n";
  text += "[[body]]\nname = \"bar\"\nsolid = { shape = \"rod\", from = [-0.5, 0, 0], to = [0.5, 0, 0], mass = 3.0 }\n";
  text += "[[joint]]\nname = \"bar\"\ntype = \"planar\"\nparent = { body = \"ground\" }\nchild = { body = \"bar\" }\n";
  text += "position = [0.5, \"sqrt(3)\", 0]\n";
  for (const bool left : {true, false}) {
    const std::string name = left ? "left" : "right";
    text += fmt::format("[[module]]\nname = \"{0}\"\nfile = \"robot.toml\"\nparameters = {{ x = {1}, side = {2} }}\n", name,
                        left ? 0 : 1, left ? 1 : -1);
    text += fmt::format("[[port]]\nname = \"{0}_end\"\nbody = \"bar\"\nat = [{1}, 0, 0]\n", name, left ? -0.5 : 0.5);
    text += fmt::format("[[connection]]\nname = \"{0}_grip\"\ntype = \"pin\"\na = \"{0}_end\"\nb = \"{0}.hand\"\n", name);
  }
  const fs::path robot = scratch.write("robot.toml", kRobot);
  return {"two robots",
          text,
          replaced(text, "file = \"robot.toml\"", "remote = \"linkwork://localhost:1/robot\""),
          scratch.path() / "two_robots.toml",
          {robot},
          {"q.bar.x", "q.bar.y", "q.bar.angle"},
          1.0};
}

struct Method {
  std::string name, glue, integrator, stabilization;
  double step = 1e-3, rtol = 1e-6;
};

const std::vector<Method>& methods() {
  static const std::vector<Method> all{
      {"hierarchical, rk4, 1 ms", "hierarchical", "rk4", "projection"},
      {"hierarchical, rk4, 10 ms", "hierarchical", "rk4", "projection", 1e-2},
      {"hierarchical, ode8, 20 ms", "hierarchical", "ode8", "projection", 2e-2},
      {"hierarchical, dopri45, rtol 1e-6", "hierarchical", "dopri45", "projection", 1e-2, 1e-6},
      {"hierarchical, dopri45, baumgarte", "hierarchical", "dopri45", "baumgarte:alpha=10,beta=10", 1e-2, 1e-6},
      {"gluing, 10 ms", "gluing", "rk4", "projection", 1e-2},
      {"gluing, 50 ms", "gluing", "rk4", "projection", 5e-2},
      {"waveform, windows of 20 ms", "waveform:window=20", "rk4", "projection"},
      {"compliance, 1e5 N/m", "compliance:stiffness=1e5", "rk4", "projection", 5e-4},
  };
  return all;
}

Spec spec_of(const Mechanism& mechanism, const std::string& text, const Method& method, double end) {
  Spec spec = read_model_text(text, mechanism.file.string());
  spec.settings.end = end;
  spec.settings.output_every = std::max(0.05, method.step);
  spec.settings.step = method.step;
  spec.settings.rtol = method.rtol;
  spec.settings.atol = 1e-3 * method.rtol;
  spec.settings.integrator = parse_choice(method.integrator, {});
  spec.settings.stabilization = parse_choice(method.stabilization, {});
  spec.settings.glue = parse_choice(method.glue, {});
  return spec;
}

class NoSealer : public Sealer {
 public:
  std::string seal(const std::string& text) const override { return text; }
  std::optional<std::string> open(const std::string& sealed) const override { return sealed; }
};

/// A host in this process: for counting.
class CountingLine : public Line {
 public:
  CountingLine(const ServedParts& parts, long& trips) : talk_(parts, sealer_), trips_(trips) {}
  void send(const std::string& request) override { reply_ = talk_.answer(request), ++trips_; }
  std::string receive() override { return reply_; }

 private:
  NoSealer sealer_;
  Conversation talk_;
  long& trips_;
  std::string reply_;
};

ModuleRun run_with(const Spec& spec, const DialHost& dial) {
  ModuleRun kept;
  InProcess alone;
  ModelRunOptions options;
  options.dial = dial;
  kept.summary = run_model(spec, alone, options, [&](const ReadyRun& ready) {
    kept.columns = ready.simulation.columns();
    return Observer{.row = [&](std::span<const double> row) { kept.rows.emplace_back(row.begin(), row.end()); }};
  });
  return kept;
}

double difference(const ModuleRun& a, const ModuleRun& b, const std::vector<std::string>& columns) {
  double largest = 0.0;
  for (const std::string& column : columns) {
    const std::vector<double> x = a[column], y = b[column];
    if (x.size() != y.size()) return std::nan("");
    for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  }
  return largest;
}

/// A server, and lines of any length to it: in another network namespace where that is permitted, else in this process behind a
/// relay.
class Served {
 public:
  Served(const Mechanism& mechanism, const ServedParts& parts, const Scratch& scratch, network::FarHost* far)
      : far_(far), address_(far ? far->address() : "127.0.0.1") {
    keys_ = (scratch.path() / fmt::format("keys{:08x}", std::random_device()())).string();
    linkwork::network().make_keys(keys_, {address_}, 2);
    far ? serve_far(mechanism) : serve_here(parts);
  }
  ~Served() {
    ended_ = true;
    if (server_.joinable()) server_.join();
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  /// Valid until the next one.
  DialHost dial(double delay) {
    int port = port_;
    if (far_) {
      far_->set_delay(delay);
    } else {
      relay_ = std::make_unique<network::Relay>(port_, 0.5 * delay);
      port = relay_->port();
    }
    return [this, port](const std::string&) {
      return linkwork::network().dial(fmt::format("{}:{}", address_, port),
                                      {keys_ + "/client.pem", keys_ + "/client.key", keys_ + "/ca.pem"}, 20.0);
    };
  }

 private:
  Credentials credentials() const { return {keys_ + "/server.pem", keys_ + "/server.key", keys_ + "/ca.pem"}; }

  void serve_far(const Mechanism& mechanism) {
    const Credentials own = credentials();
    std::vector<std::string> command{(fs::read_symlink("/proc/self/exe").parent_path() / "linkwork").string(), "serve"};
    for (const fs::path& file : mechanism.parts) command.push_back(file.string());
    command.insert(command.end(), {"--listen", address_ + ":0", "--cert", own.cert, "--key", own.key, "--ca", own.ca});
    const std::string said = far_->start(command);  // "serving linkwork://ADDRESS:PORT/PART"
    port_ = std::stoi(said.substr(said.rfind(':') + 1));
  }

  void serve_here(const ServedParts& parts) {
    ListenSettings settings;
    settings.host = address_;
    settings.credentials = credentials();
    server_ = std::thread([this, parts, settings] {
      try {
        serve(
            parts, settings, [this](int port) { port_ = port; }, [this] { return !ended_; });
      } catch (const std::runtime_error&) {
        port_ = -1;
      }
    });
    while (port_ == 0) std::this_thread::yield();
    if (port_ < 0) throw std::runtime_error("no port of this machine can be listened on");
  }

  network::FarHost* far_;
  std::string address_, keys_;
  std::unique_ptr<network::Relay> relay_;
  std::atomic<int> port_ = 0;
  std::atomic<bool> ended_ = false;
  std::thread server_;
};

/// Wall time of a simulated second with the host so far away, from a run of about so many round trips.
double seconds_per_second(const Mechanism& mechanism, const Method& method, double trips_per_second, Served& served, double delay,
                          double round_trips) {
  using Clock = std::chrono::steady_clock;
  double end = std::clamp(round_trips / trips_per_second, 2.0 * method.step, mechanism.end);
  if (method.glue.starts_with("waveform")) end = std::max(end, 20.0 * method.step);
  constexpr double kPatience = 10.0;
  if (end * trips_per_second * delay > kPatience) return trips_per_second * delay;
  Spec spec = spec_of(mechanism, mechanism.there, method, end);
  long trips = 0;
  const DialHost dial = served.dial(delay);
  const auto before = Clock::now();
  const ModuleRun kept = run_with(spec, dial);
  const double seconds = std::chrono::duration<double>(Clock::now() - before).count();
  for (const std::string& note : kept.summary.notes)
    if (note.find("round trips") != std::string::npos) trips = std::stol(note);
  return trips > 0 && kept.summary.completed ? seconds / static_cast<double>(trips) * trips_per_second : std::nan("");
}

void study(const StudyContext& context, const Mechanism& mechanism, const Scratch& scratch, network::FarHost* far,
           const std::string& how, StudyResult& result, bool& as_here, double& worst_exact) {
  ServedParts parts;
  for (const fs::path& file : mechanism.parts) parts.merge(served_model(file));
  const Method tight{"reference", "none", "ode8", "projection"};
  const ModuleRun reference = run_with(spec_of(mechanism, mechanism.here, tight, mechanism.end), nullptr);
  const std::vector<double> delays = context.quick ? std::vector<double>{0.0, 1e-3} : std::vector<double>{0.0, 1e-3, 1e-2, 5e-2};
  Part& part = result.add_part(mechanism.name,
                               "Round trips per simulated second; the largest error of a coordinate against one piece with ode8 "
                               "in steps of 1 ms; and the wall "
                               "time that a simulated second takes with the host so far away, mutual TLS and all.");
  Table table{mechanism.name, {"method", "round trips per s", "error"}};
  for (const double delay : delays) table.columns.push_back(fmt::format("{:g} ms (s/s)", 1e3 * delay));
  Figure figure{"Wall time of a simulated second", "round trip (ms)", "s per s", true, true};
  std::unique_ptr<Served> served;
  std::string no_network;
  try {
    served = std::make_unique<Served>(mechanism, parts, scratch, far);
  } catch (const InputError& error) {
    no_network = error.message();
  } catch (const std::runtime_error& error) {
    no_network = error.what();
  }
  for (const Method& method : methods()) {
    context.progress(fmt::format("{}: {}", mechanism.name, method.name));
    long trips = 0;
    std::vector<Cell> row{method.name};
    std::string trouble;
    ModuleRun there;
    try {
      const Spec spec = spec_of(mechanism, mechanism.there, method, mechanism.end);
      there = run_with(spec, [&](const std::string&) { return std::make_unique<CountingLine>(parts, trips); });
      if (!there.summary.completed) trouble = there.summary.status;
    } catch (const InputError& error) {
      trouble = error.message();
    }
    if (!trouble.empty()) {
      row.insert(row.end(), {Cell(std::string("-")), Cell("refused: " + trouble)});
      for (std::size_t k = 0; k < delays.size(); ++k) row.emplace_back(std::string("-"));
      table.rows.push_back(std::move(row));
      continue;
    }
    const double per_second = static_cast<double>(trips) / mechanism.end;
    const double error = difference(there, reference, mechanism.columns);
    row.insert(row.end(), {Cell(per_second), Cell(error)});
    if (method.glue == "hierarchical") {
      const ModuleRun here = run_with(spec_of(mechanism, mechanism.here, method, mechanism.end), nullptr);
      const double apart = difference(there, here, mechanism.columns);
      worst_exact = std::max(worst_exact, apart);
      as_here = as_here && apart < 1e-9;
    }
    Series series{method.name, {}, {}, SeriesStyle::kLinePoints};
    for (const double delay : delays) {
      const double budget = context.quick ? 60.0 : std::clamp(2.0 / std::max(delay, 1e-3), 40.0, 500.0);
      const double seconds = served ? seconds_per_second(mechanism, method, per_second, *served, delay, budget) : std::nan("");
      row.emplace_back(seconds);
      series.x.push_back(std::max(1e3 * delay, 0.1)), series.y.push_back(seconds);
    }
    figure.series.push_back(std::move(series));
    table.rows.push_back(std::move(row));
  }
  table.caption = no_network.empty() ? how +
                                           " Times are those of short runs, per round trip, times the round trips of the whole; "
                                           "where even that would take long, "
                                           "the delay times the round trips."
                                     : "No times: " + no_network;
  part.tables.push_back(std::move(table));
  if (served) part.figures.push_back(std::move(figure));
}

StudyResult run_network(StudyContext& context) {
  StudyResult result;
  const Scratch scratch;
  std::vector<Mechanism> mechanisms{ready(context, "four-bar", "four_bar_modules", "four_bar_right", context.quick ? 0.2 : 1.0,
                                          {"q.left.theta", "q.left.alpha"})};
  if (!context.quick) {
    mechanisms.push_back(two_robots(scratch));
    mechanisms.push_back(
        ready(context, "rover", "rover_modules", "suspension", 0.5, {"q.chassis.x", "q.chassis.y", "q.chassis.z"}));
  }
  std::unique_ptr<network::FarHost> far;
  std::string how = "The host is in another network namespace, and 'tc netem' makes the line to it so long.";
  try {
    far = std::make_unique<network::FarHost>();
  } catch (const std::runtime_error& error) {
    how = fmt::format("A relay holds every byte back for half of the delay in each direction, since {}.", error.what());
  }
  bool as_here = true;
  double worst = 0.0;
  for (const Mechanism& mechanism : mechanisms) study(context, mechanism, scratch, far.get(), how, result, as_here, worst);
  result.parts.back().claims.push_back(
      {"exact", "Modules kept on their own hosts are glued into one exact simulation", "left as future work [Tseng2001]",
       fmt::format("with the exact glue coordinates differ by at most {:.1e} from those of a run in one process", worst),
       as_here ? Holds::kYes : Holds::kNo, "starts are closed through the ports in place of in one piece"});
  return result;
}

}  // namespace

Study network_study() {
  return {{"network", "Modules on other hosts: what the delay of a network costs",
           "a four-bar, two robots and a rover with modules behind 0 to 50 ms: round trips and accuracy of the glues",
           "Tseng2001", "F.-C. Tseng, G. M. Hulbert: A gluing algorithm for network-distributed multibody dynamics simulation"},
          run_network};
}

}  // namespace linkwork::studies
