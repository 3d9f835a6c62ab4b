#include "linkwork/front/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/interruption.h"
#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/text.h"
#include "linkwork/model/input_error.h"
#include "linkwork/model/remote_modules.h"
#include "linkwork/version.h"

namespace linkwork::cli {
namespace {

constexpr const char* kServeFooter =
    R"(Another run uses it with
  [[module]]
  name = "right"
  remote = "linkwork://HOST:PORT/PART"
where PART is the name of the file without its ending, or the model's name. Ports are joined by name. The state stays here: what leaves is
the motion of the ports, their response D and R, energies, and the columns of the output, which --columns restricts. Only those with
a certificate that the authority of --ca has signed get an answer. The server listens on the address of --listen only; port 0 is any free
port. Ctrl-C ends it. See docs/network.md.

Examples:
  linkwork serve --make-keys keys
  linkwork serve chain.toml --listen 127.0.0.1:7070 --cert keys/server.pem --key keys/server.key --ca keys/ca.pem
  linkwork serve left.toml right.toml --listen 0.0.0.0:7070 --columns sensors)";

constexpr const char* kPingFooter =
    R"(Sends empty messages over the line that modules use, mutual TLS and all, and times each until its answer is there.

Example:
  linkwork ping 127.0.0.1:7070 --cert keys/client.pem --key keys/client.key --ca keys/ca.pem)";

/// --cert, --key and --ca, or the variables that runs use.
struct CredentialOptions {
  std::string cert, key, ca;

  void add_to(CLI::App& app) {
    app.add_option("--cert", cert, "certificate of this side, PEM; default LINKWORK_CERT")->option_text("FILE");
    app.add_option("--key", key, "its private key, PEM; default LINKWORK_KEY")->option_text("FILE");
    app.add_option("--ca", ca, "certificate of the authority that must have signed the other side's; default LINKWORK_CA")
        ->option_text("FILE");
  }

  Credentials credentials() const {
    const auto find = [](const std::string& given, const char* option, const char* variable) {
      if (!given.empty()) return given;
      if (const char* const set = std::getenv(variable); set != nullptr && *set != '\0') return std::string(set);
      throw InputError({option, 0, 0}, "is not given, and nothing is answered without certificates",
                       fmt::format("a file, here or in {}; 'linkwork serve --make-keys DIR' makes some for a trial", variable));
    };
    return {find(cert, "--cert", "LINKWORK_CERT"), find(key, "--key", "LINKWORK_KEY"), find(ca, "--ca", "LINKWORK_CA")};
  }
};

struct ServeOptions {
  std::vector<std::string> models, set, columns, names{"localhost", "127.0.0.1", "::1"};
  std::string listen = "127.0.0.1:0", make_keys;
  int days = 30;
  CredentialOptions credentials;
  std::size_t most_kilobytes = 4096;
  double most_messages = 50'000.0;
};

/// What the network objects to is bad input.
template <class Do>
auto in_words(Do what) {
  try {
    return what();
  } catch (const InputError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw InputError({}, error.what());
  }
}

std::pair<std::string, int> host_and_port(const std::string& text, const char* option) {
  const std::size_t colon = text.rfind(':');
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool is_number = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || colon == 0 || std::stoi(port) > 65535)
    throw InputError({option, 0, 0}, fmt::format("is '{}'", text), "HOST:PORT, as in 127.0.0.1:7070");
  return {text.substr(0, colon), std::stoi(port)};
}

int make_keys(const ServeOptions& options) {
  const std::vector<std::string> files =
      in_words([&] { return network().make_keys(options.make_keys, options.names, options.days); });
  for (const std::string& file : files) print("{}\n", file);
  print("for a trial, valid for {} days; ca.key signs others: keep it away from hosts\n", options.days);
  return kDone;
}

int serve_models(const ServeOptions& options) {
  if (!options.make_keys.empty()) return make_keys(options);
  if (options.models.empty()) throw InputError({}, "there is no model to serve", "MODEL, or --make-keys DIR");
  Parameters parameters;
  for (const std::string& set : options.set) {
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0) throw InputError({"--set", 0, 0}, fmt::format("is '{}'", set), "name=value");
    parameters.emplace_back(set.substr(0, equals), set.substr(equals + 1));
  }
  ServedParts parts;
  for (const std::string& model : options.models)
    for (auto& [name, make] : served_model(model, parameters, options.columns))
      if (!parts.emplace(name, make).second)
        throw InputError({}, fmt::format("there are two parts '{}'", name), "files and models with names of their own");
  ListenSettings settings;
  std::tie(settings.host, settings.port) = host_and_port(options.listen, "--listen");
  settings.credentials = options.credentials.credentials();
  settings.most_message_bytes = options.most_kilobytes << 10U;
  settings.most_messages_per_second = options.most_messages;
  expect_interruption();
  in_words([&] {
    serve(
        parts, settings,
        [&](int port) {
          for (const auto& [name, make] : parts) print("serving linkwork://{}:{}/{}\n", settings.host, port, name);
          std::fflush(stdout);
        },
        [] { return !interrupted(); });
  });
  return exit_code_after_interruption();
}

struct PingOptions {
  std::string host;
  int count = 1000;
  double timeout = 10.0;
  CredentialOptions credentials;
};

remote::Reply exchange(Line& line, remote::Request request) {
  line.send(WireWriter::text(request));
  const auto reply = WireReader::message<remote::Reply>(line.receive());
  if (!reply.refusal.empty()) throw InputError({}, "the host refuses: " + reply.refusal);
  return reply;
}

int ping(const PingOptions& options) {
  using Clock = std::chrono::steady_clock;
  std::string host = options.host;
  if (host.starts_with("linkwork://")) host = host.substr(11, host.find('/', 11) - 11);
  host_and_port(host, "HOST");
  if (options.count < 1) throw InputError({"--count", 0, 0}, fmt::format("is {}", options.count), "a number > 0");
  return in_words([&] {
    const std::unique_ptr<Line> line = network().dial(host, options.credentials.credentials(), options.timeout);
    remote::Request hello;
    hello.number = 1;
    hello.hello = {remote::kFirstVersion, remote::kLastVersion, "linkwork " LINKWORK_VERSION};
    const remote::Reply welcome = exchange(*line, hello);
    std::vector<double> times;
    for (int i = 0; i < options.count; ++i) {
      remote::Request empty;
      empty.number = static_cast<std::uint64_t>(i) + 2;
      empty.ask.emplace();
      const auto before = Clock::now();
      exchange(*line, empty);
      times.push_back(1e6 * std::chrono::duration<double>(Clock::now() - before).count());
    }
    std::ranges::sort(times);
    const auto part = [&](double share) {
      return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
    };
    if (welcome.welcome)
      print_line("host", fmt::format("{}, version {} of the contract", welcome.welcome->program, welcome.welcome->version));
    if (welcome.welcome) print_line("parts", fmt::format("{}", listed(welcome.welcome->parts)));
    print_line("round trip", fmt::format("median {:.0f} us, 95 % below {:.0f} us, longest {:.0f} us, of {}", part(0.5),
                                         part(0.95), times.back(), counted(options.count, "message")));
    return +kDone;
  });
}

}  // namespace

Command serve_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("serve", "Offers models as modules to runs on other hosts.");
  const auto options = std::make_shared<ServeOptions>();
  app->add_option("MODEL", options->models, "model files with ports, to be modules elsewhere")->type_name("");
  app->add_option("--listen", options->listen, "address to listen on; default 127.0.0.1:0, any free port of this machine alone")
      ->option_text("HOST:PORT");
  options->credentials.add_to(*app);
  app->add_option("--set", options->set, "another value for a parameter")->option_text("name=value");
  add_fmu_option(*app);
  app->add_option("--columns", options->columns, "output that others may see: groups, names or patterns; default all")
      ->delimiter(',')
      ->option_text("LIST");
  app->add_option("--most-message", options->most_kilobytes, "largest message that is read, kB; default 4096")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20U))
      ->option_text("KB");
  app->add_option("--most-rate", options->most_messages, "messages per second on a line; default 50000")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  app->add_option("--make-keys", options->make_keys,
                  "make a certificate authority and keys for a trial in a folder, and serve nothing")
      ->option_text("DIR");
  app->add_option("--names", options->names, "names and addresses of the server for --make-keys; default localhost,127.0.0.1,::1")
      ->delimiter(',')
      ->option_text("LIST");
  app->add_option("--days", options->days, "how long the keys of --make-keys are valid; default 30")
      ->check(CLI::Range(-3650, 3650))
      ->option_text("N");
  app->footer(kServeFooter);
  return {app, [options] { return serve_models(*options); }};
}

Command ping_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("ping", "Times round trips to a host of modules.");
  const auto options = std::make_shared<PingOptions>();
  app->add_option("HOST", options->host, "HOST:PORT, or linkwork://HOST:PORT/PART")->required()->type_name("");
  options->credentials.add_to(*app);
  app->add_option("--count", options->count, "how many; default 1000")->option_text("N");
  app->add_option("--timeout", options->timeout, "how long to wait for an answer, s; default 10")
      ->check(CLI::PositiveNumber)
      ->option_text("T");
  app->footer(kPingFooter);
  return {app, [options] { return ping(*options); }};
}

}  // namespace linkwork::cli
