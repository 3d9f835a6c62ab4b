#include "linkwork/model/remote_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "linkwork/front/serve.h"
#include "linkwork/io/model_file.h"
#include "linkwork/modules/model_run.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using ::testing::HasSubstr;

/// Nothing is hidden from a test.
class OpenSealer : public Sealer {
 public:
  std::string seal(const std::string& text) const override { return "sealed" + text; }
  std::optional<std::string> open(const std::string& sealed) const override {
    return sealed.starts_with("sealed") ? std::optional(sealed.substr(6)) : std::nullopt;
  }
};
const OpenSealer kSealer;

/// A host in the same process, and what may happen on the way to it.
struct Host {
  ServedParts parts;
  int breaks_after = 0;  // messages of a line; 0: never
  int dead_after = 0;    // messages in all
  std::function<void(remote::Reply&)> spoil = nullptr;
  long messages = 0, lines = 0, largest_calls = 0;
};

class TestLine : public Line {
 public:
  explicit TestLine(Host& host) : host_(host), talk_(host.parts, kSealer) { ++host.lines; }

  void send(const std::string& request) override {
    if (host_.dead_after > 0 && host_.messages >= host_.dead_after) throw LineLost("the host is dead");
    if (host_.breaks_after > 0 && ++sent_ > host_.breaks_after) throw LineLost("the line broke");
    ++host_.messages;
    const auto asked = WireReader::message<remote::Request>(request);
    if (asked.ask) host_.largest_calls = std::max(host_.largest_calls, static_cast<long>(asked.ask->calls.size()));
    reply_ = talk_.answer(request);
  }
  std::string receive() override {
    if (!host_.spoil) return reply_;
    auto reply = WireReader::message<remote::Reply>(reply_);
    host_.spoil(reply);
    return WireWriter::text(reply);
  }

 private:
  Host& host_;
  Conversation talk_;
  int sent_ = 0;
  std::string reply_;
};

std::filesystem::path part(const std::string& name) { return test::source_dir() / "models" / "parts" / (name + ".toml"); }

/// four_bar_modules.toml with modules on other hosts in place of those named.
Spec four_bar(const std::string& settings, const std::vector<std::string>& remote, const std::string& more = "") {
  std::string text = "linkwork = 1\nname = \"four-bar\"\n[settings]\nend = 0.3\n[settings.network]\ntimeout = 0.2\n";
  for (const std::string side : {"left", "right"}) {
    const bool is_remote = std::ranges::find(remote, side) != remote.end();
    text +=
        "[[module]]\nname = \"" + side + "\"\n" +
        (is_remote ? "remote = \"linkwork://host:7/four_bar_" + side + "\"\n" : "file = \"parts/four_bar_" + side + ".toml\"\n");
    if (side == "left") text += "parameters = { torque = 6.0 }\n";
  }
  text += "[[connection]]\nname = \"pin\"\ntype = \"pin\"\na = \"left.tip\"\nb = \"right.tip\"\naxis = [0, 0, 1]\n";
  Spec spec = read_model_text(text + more, (test::source_dir() / "models" / "test.toml").string());
  for (std::size_t at = 0; at < settings.size();) {
    const std::size_t end = std::min(settings.find(' ', at), settings.size()), equals = settings.find('=', at);
    const std::string key = settings.substr(at, equals - at), value = settings.substr(equals + 1, end - equals - 1);
    if (key == "integrator") spec.settings.integrator = parse_choice(value, {});
    if (key == "glue") spec.settings.glue = parse_choice(value, {});
    if (key == "stabilization") spec.settings.stabilization = parse_choice(value, {});
    if (key == "formulation") spec.settings.formulation = parse_choice(value, {});
    if (key == "coordinates") spec.settings.coordinates = parse_choice(value, {});
    if (key == "step") spec.settings.step = std::stod(value);
    if (key == "end") spec.settings.end = std::stod(value);
    if (key == "every") spec.settings.output_every = std::stod(value);
    at = end + 1;
  }
  return spec;
}

Host chain_host() {
  Host host;
  for (const char* const name : {"four_bar_left", "four_bar_right"}) host.parts.merge(served_model(part(name)));
  return host;
}

KeptRun run(const Spec& spec, Host& host, int threads = 1) {
  KeptRun kept;
  InProcess alone;
  ModelRunOptions options{.threads = threads};
  options.dial = [&](const std::string&) { return std::make_unique<TestLine>(host); };
  kept.summary = run_model(spec, alone, options, [&](const ReadyRun& ready) {
    if (ready.transport.rank() != 0) return Observer{};
    kept.columns = ready.simulation.columns();
    return Observer{.row = [&](std::span<const double> row) { kept.rows.emplace_back(row.begin(), row.end()); }};
  });
  return kept;
}

void expect_same_bits(const KeptRun& a, const KeptRun& b) {
  EXPECT_TRUE(a.summary.completed) << a.summary.status;
  EXPECT_TRUE(b.summary.completed) << b.summary.status;
  ASSERT_EQ(a.columns.size(), b.columns.size());
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (std::size_t r = 0; r < a.rows.size(); ++r)
    for (std::size_t c = 0; c < a.columns.size(); ++c)  // forces without a name are counted, each module its own
      ASSERT_EQ(a.rows[r][c], b.rows[r][c]) << a.columns[c] << ", " << b.columns[c] << " in row " << r;
}

class RemoteFourBar : public ::testing::TestWithParam<const char*> {};

TEST_P(RemoteFourBar, HasTheBitsOfOneProcess) {
  const KeptRun here = run_model(four_bar(GetParam(), {}));
  for (const std::vector<std::string>& remote : {std::vector<std::string>{"right"}, {"left"}, {"left", "right"}}) {
    Host host = chain_host();
    expect_same_bits(run(four_bar(GetParam(), remote), host), here);
  }
}

TEST_P(RemoteFourBar, HasTheSameBitsWhenTheLineBreaksAllTheTime) {
  Host host = chain_host();
  const KeptRun whole = run(four_bar(GetParam(), {"left", "right"}), host);
  for (const int messages : {37, 101}) {
    Host broken = chain_host();
    broken.breaks_after = messages;
    expect_same_bits(run(four_bar(GetParam(), {"left", "right"}), broken), whole);
    EXPECT_GT(broken.lines, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, RemoteFourBar,
                         ::testing::Values("integrator=rk4", "integrator=dopri45 every=0.003",
                                           "integrator=dopri45 every=0.0002 end=0.05", "integrator=euler step=1e-4 end=0.05",
                                           "stabilization=baumgarte:alpha=5,beta=5", "glue=compliance:stiffness=1e4",
                                           "glue=hierarchical:nesting=0 stabilization=velocity", "stabilization=position",
                                           "stabilization=acceleration", "stabilization=post:mass=1 end=0.1",
                                           "stabilization=none end=0.1", "coordinates=FA end=0.05",
                                           "formulation=udwadia-kalaba end=0.05", "integrator=dopri45 end=1", "integrator=ode8"));

/// A model whose modules are all of the same file, here or on a host.
Spec alike(const std::string& model, const std::string& module, bool remote, double end) {
  const std::filesystem::path file = test::source_dir() / "models" / (model + ".toml");
  std::string text = read_text_file(file);
  const std::string own = "file = \"parts/" + module + ".toml\"";
  if (remote) text.replace(text.find(own), own.size(), "remote = \"linkwork://host:7/" + module + "\"");
  Spec spec = read_model_text(text, file.string());
  spec.settings.end = end, spec.settings.output_every = 0.01;
  return spec;
}

/// Six suspensions with loops of their own, each a module on the same host.
class RemoteRover : public ::testing::TestWithParam<const char*> {};

TEST_P(RemoteRover, MovesAsInOneProcess) {
  const auto ready = [&](bool remote) {
    Spec spec = alike("rover_modules", "suspension", remote, 0.05);
    spec.settings.coordinates = parse_choice(GetParam(), {});
    return spec;
  };
  Host host;
  host.parts = served_model(part("suspension"));
  const KeptRun here = run_model(ready(false)), there = run(ready(true), host);
  ASSERT_TRUE(here.summary.completed && there.summary.completed) << here.summary.status << there.summary.status;
  EXPECT_EQ(host.largest_calls, 6);
  EXPECT_EQ(there.summary.dof, here.summary.dof);
  for (const char* const column : {"q.chassis.z", "v.chassis.z", "p.front.z", "energy.total"})
    for (std::size_t r = 0; r < here.rows.size(); ++r)
      EXPECT_NEAR(there[column][r], here[column][r], 1e-8 * std::max(1.0, std::abs(here[column][r]))) << column;
}

INSTANTIATE_TEST_SUITE_P(Coordinates, RemoteRover, ::testing::Values("auto", "CE", "FA"));

TEST(RemoteModules, AreGluedInLongSteps) {
  for (const char* const settings : {"glue=gluing step=0.01 every=0.01", "glue=gluing:rho=0.8 step=0.01 every=0.01"}) {
    const KeptRun here = run_model(four_bar(settings, {}));
    Host host = chain_host();
    const KeptRun there = run(four_bar(settings, {"left", "right"}), host);
    ASSERT_TRUE(there.summary.completed) << there.summary.status;
    ASSERT_EQ(there.rows.size(), here.rows.size());
    for (const char* const column : {"q.left.theta", "v.right.phi", "energy.total"})
      for (std::size_t r = 0; r < here.rows.size(); ++r) EXPECT_NEAR(there[column][r], here[column][r], 1e-6) << column;
  }
}

TEST(RemoteModules, AreIteratedInWindows) {
  const auto ready = [](bool remote) {
    Spec spec = alike("chain_modules", "ribbed_segment", remote, 0.03);
    spec.settings.glue = parse_choice("waveform:window=5", {});
    return spec;
  };
  Host host;
  host.parts = served_model(part("ribbed_segment"));
  const KeptRun here = run_model(ready(false)), there = run(ready(true), host);
  ASSERT_TRUE(here.summary.completed && there.summary.completed) << here.summary.status << there.summary.status;
  ASSERT_EQ(there.rows.size(), here.rows.size());
  for (const char* const column : {"q.segment1.place.angle", "v.segment4.place.y", "energy.total"})
    for (std::size_t r = 0; r < here.rows.size(); ++r) EXPECT_NEAR(there[column][r], here[column][r], 1e-10) << column;
}

/// A short push, which only a look at the law in time finds, and states of the user's own.
TEST(RemoteModules, LiveWithStatesAndLawsInTimeOfWhatIsHere) {
  const std::string more =
      "[[force]]\nname = \"push\"\ntype = \"torque\"\njoint = \"left.theta\"\nvalue = \"40*exp(-((t - 0.2)/0.001)^2)\"\n"
      "[[state]]\nname = \"integral\"\nrate = \"q.left.theta - z.integral\"\n";
  const char* const settings = "integrator=dopri45 every=0.1";
  Host host = chain_host();
  const KeptRun here = run_model(four_bar(settings, {}, more)), there = run(four_bar(settings, {"right"}, more), host);
  expect_same_bits(there, here);
  EXPECT_GT(here["z.integral"].back(), 0.1);
  const KeptRun without = run_model(four_bar(settings, {}));
  EXPECT_GT(std::abs(without["v.left.theta"].back() - here["v.left.theta"].back()), 1e-3);
}

TEST(RemoteModules, OfOneHostAreAskedInOneMessage) {
  Host one = chain_host(), two = chain_host();
  run(four_bar("integrator=rk4 end=0.1", {"right"}), one);
  run(four_bar("integrator=rk4 end=0.1", {"left", "right"}), two);
  EXPECT_EQ(two.largest_calls, 2);
  EXPECT_LT(two.messages, one.messages + 10);
}

TEST(RemoteModules, TakeOneRoundTripPerEvaluation) {
  Host host = chain_host();
  const KeptRun kept = run(four_bar("integrator=rk4 stabilization=none every=1", {"right"}), host);
  EXPECT_NEAR(static_cast<double>(host.messages), static_cast<double>(kept.summary.evaluations), 12.0);  // opening, rows, closing
}

TEST(RemoteModules, RunOnThreads) {
  Host host = chain_host();
  const Spec spec = four_bar("integrator=rk4 end=0.05", {"right"});  // one line only: the host above is not shared by threads
  expect_same_bits(run(spec, host, 2), run_model(four_bar("integrator=rk4 end=0.05", {}), 1));
}

TEST(RemoteModules, AreClosedAtTheirPortsAtTheStart) {
  Spec spec = four_bar("integrator=rk4", {"right"});
  for (JointSpec& joint : spec.joints)
    if (joint.name == "left.alpha") joint.position[0] += 0.2;
  Host host = chain_host();
  const KeptRun kept = run(spec, host);
  ASSERT_TRUE(kept.summary.completed) << kept.summary.status;
  EXPECT_THAT(kept.summary.notes, ::testing::Contains(HasSubstr("closed through the ports")));
  EXPECT_LT(kept["error.position"].front(), 1e-9);
}

TEST(RemoteModules, OfADeadHostAreNamedAndTheRunKeepsWhatItHas) {
  Host host = chain_host();
  host.dead_after = 400;
  const KeptRun kept = run(four_bar("integrator=rk4", {"right"}), host);
  EXPECT_FALSE(kept.summary.completed);
  EXPECT_THAT(kept.summary.status, HasSubstr("module 'right': its host linkwork://host:7 does not answer (the host is dead)"));
  EXPECT_GT(kept.rows.size(), 3U);
  Host adaptive = chain_host();
  adaptive.dead_after = 100;
  EXPECT_THAT(run(four_bar("integrator=dopri45", {"right"}), adaptive).summary.status, HasSubstr("module 'right': its host"));
}

TEST(RemoteModules, ThatAnswerNonsenseAreNamed) {
  const std::vector<std::pair<std::function<void(remote::Evaluation&)>, std::string>> kinds{
      {[](remote::Evaluation& x) { x.R[2] = NAN; }, "R is not a finite number"},
      {[](remote::Evaluation& x) { x.motion[10] = INFINITY; }, "the motion of its ports is not a finite number"},
      {[](remote::Evaluation& x) { x.D[3] += 1.0; }, "D is not symmetric: D(4,1)"},
      {[](remote::Evaluation& x) { x.D.pop_back(); },
       "18, 35, 6 and 6 numbers of motion, D, R and scale in place of 18, 36, 6 and 6"},
      {[](remote::Evaluation& x) { x.D[0] = -1.0; }, "D is not positive"},
      {[](remote::Evaluation& x) { x.motion[0] += 1.0; }, "the orientation of its port 'tip' is no rotation"},
      {[](remote::Evaluation& x) { x.speed = NAN; }, "its errors are not finite numbers"},
  };
  for (const auto& [spoil, words] : kinds) {
    Host host = chain_host();
    host.spoil = [&, spoil = spoil](remote::Reply& reply) {
      if (host.messages > 300 && reply.answer)
        for (remote::ModuleAnswer& module : reply.answer->modules)
          for (remote::Result& result : module.results)
            if (result.evaluation) spoil(*result.evaluation);
    };
    const KeptRun kept = run(four_bar("integrator=rk4", {"right"}), host);
    EXPECT_FALSE(kept.summary.completed);
    EXPECT_THAT(kept.summary.status, ::testing::AllOf(HasSubstr("module 'right'"), HasSubstr(words)));
    EXPECT_GT(kept.rows.size(), 2U);
  }
}

TEST(RemoteModules, AreRefusedInWords) {
  const auto message = [](const Spec& spec, Host& host) -> std::string {
    try {
      run(spec, host);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  Host host = chain_host(), empty;
  empty.parts = served_model(part("four_bar_left"));
  EXPECT_THAT(message(four_bar("integrator=rk4", {"right"}), empty), HasSubstr("unknown part 'four_bar_right'"));
  EXPECT_THAT(message(four_bar("glue=projection", {"right"}), host), HasSubstr("which not every module shows: right"));
  EXPECT_THAT(message(four_bar("glue=none", {"right"}), host),
              HasSubstr("the equations of module 'right' are not here, since it is on another host"));
  EXPECT_THAT(message(four_bar("integrator=ida", {"right"}), host), HasSubstr("'ida'"));
  for (const char* const name : {"cvode-bdf", "arkode"})
    EXPECT_THAT(message(four_bar(std::string("integrator=") + name, {"right"}), host),
                HasSubstr("those of modules on other hosts stay there"));
  EXPECT_THAT(message(four_bar("stabilization=post", {"right"}), host),
              HasSubstr("measures changes by coordinates, and the module 'right' only by its masses"));
  EXPECT_THAT(
      message(four_bar("integrator=rk4", {"right"}, "[[event]]\nname = \"late\"\nwhen = \"q.left.theta - 2\"\ndo = [\"stop\"]\n"),
              host),
      HasSubstr("the model has events, contacts, friction or jumps, and the module 'right' cannot be told of them"));
  Host future = chain_host();
  future.spoil = [](remote::Reply& reply) {
    if (reply.welcome) reply.welcome->version = 2;
  };
  EXPECT_THAT(message(four_bar("integrator=rk4", {"right"}), future), HasSubstr("another version of the contract"));
}

TEST(RemoteModules, OfAModelFileNeedPortsAndNothingThatComesAndGoes) {
  const auto refused = [](const std::filesystem::path& file, const std::vector<std::string>& columns = {}) -> std::string {
    try {
      served_model(file, {}, columns);
      return "";
    } catch (const InputError& error) {
      return error.message();
    }
  };
  EXPECT_THAT(refused(test::source_dir() / "models" / "four_bar.toml"), HasSubstr("has no ports"));
  EXPECT_THAT(refused(part("four_bar_right"), {"qq"}), HasSubstr("qq"));
  EXPECT_EQ(refused(part("four_bar_right"), {"sensors"}), "");
}

TEST(RemoteModules, ShowOnlyTheColumnsThatTheirOwnerLetsOthersSee) {
  Host host;
  host.parts = served_model(part("four_bar_right"), {}, {"v", "q.p*"});
  const KeptRun kept = run(four_bar("integrator=rk4 end=0.02", {"right"}), host);
  std::vector<std::string> own;
  for (const std::string& column : kept.columns)
    if (column.find("right.") != std::string::npos) own.push_back(column);
  EXPECT_THAT(own, ::testing::ElementsAre("q.right.phi", "v.right.phi"));
  EXPECT_EQ(kept["q.right.phi"], run_model(four_bar("integrator=rk4 end=0.02", {}))["q.right.phi"]);
}

TEST(RemoteModules, AreReadFromModelFiles) {
  const auto read = [](const std::string& remote) {
    return read_model_text("linkwork = 1\n[[module]]\nname = \"a\"\n" + remote, "model.toml");
  };
  const Spec spec = read("remote = \"linkwork://[::1]:7070/chain\"\nparameters = { l = \"2*3\" }\n");
  const RemoteModuleSpec& module = remote_modules(spec)->modules.front();
  EXPECT_EQ(module.host, "[::1]:7070");
  EXPECT_EQ(module.part, "chain");
  EXPECT_THAT(module.parameters, ::testing::ElementsAre(std::pair<std::string, double>("l", 6.0)));
  for (const char* const bad : {"http://h:1/p", "linkwork://h/p", "linkwork://h:1", "linkwork://h:1/", "linkwork://h:0/p",
                                "linkwork://h:99999/p", "linkwork://:1/p", "linkwork://h:1/p/q", "linkwork://a b:1/p", ""})
    EXPECT_THROW(read("remote = \"" + std::string(bad) + "\"\n"), InputError) << bad;
  EXPECT_THROW(read(""), InputError);
  EXPECT_THROW(read("file = \"x.toml\"\nremote = \"linkwork://h:1/p\"\n"), InputError);
}

TEST(RemoteModules, AreNotOpenedIfWhatIsSaidOfThemIsNonsense) {
  const std::vector<std::function<void(remote::Opened&)>> kinds{
      [](remote::Opened& x) { x.length = NAN; }, [](remote::Opened& x) { x.mass = -1.0; },
      [](remote::Opened& x) { x.columns[0] = "q.a,q.b"; }, [](remote::Opened& x) { x.columns[0] = "q.\033[2J"; }};
  for (const auto& spoil : kinds) {
    Host host = chain_host();
    host.spoil = [&](remote::Reply& reply) {
      if (reply.opened) spoil(*reply.opened);
    };
    try {
      run(four_bar("integrator=rk4", {"right"}), host);
      ADD_FAILURE() << "was opened";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr("module 'right'"), HasSubstr("answers nonsense")));
    }
  }
}

TEST(NetworkMessages, AreWhatWasWritten) {
  remote::Request request;
  request.number = 300;
  request.ask.emplace().calls.push_back({7, {}});
  remote::Action action;
  action.evaluate = {-0.0, remote::StateSum{{0, 5, 1000}, {1.0, -2.5e-300, NAN}, true}, 2};
  request.ask->calls[0].actions = {action, {}};
  request.ask->calls[0].actions[1].set_input = {"u", 3.0};
  const std::string text = WireWriter::text(request);
  const auto read = WireReader::message<remote::Request>(text);
  EXPECT_EQ(WireWriter::text(read), text);
  EXPECT_EQ(read.ask->calls[0].actions[0].evaluate->state->slots, (std::vector<std::uint32_t>{0, 5, 1000}));
  EXPECT_EQ(*read.ask->calls[0].actions[1].set_input->value, 3.0);
}

TEST(NetworkMessages, ThatAreNoneAreErrorsInWords) {
  for (const std::string& text : {std::string("\x08"), std::string("\x1a\xff\xff\xff\xff\x0f"), std::string("\x03"),
                                  std::string("\x00\x01", 2), std::string(11, '\xff'), std::string("\x0d\x01")})
    EXPECT_THROW(WireReader::message<remote::Request>(text), WireError);
}

TEST(Conversations, HaveLimits) {
  Host host = chain_host();
  HostLimits limits;
  limits.most_modules = 2, limits.most_slots = 10, limits.most_ports = 3, limits.most_actions = 20,
  limits.most_answer_bytes = 5000;
  Conversation talk(host.parts, kSealer, limits);
  const auto tell = [&](const remote::Request& request) {
    return WireReader::message<remote::Reply>(talk.answer(WireWriter::text(request)));
  };
  remote::Request hello;
  hello.hello = {1, 1, "test"};
  tell(hello);
  const auto open = [&](std::uint32_t slots, std::size_t ports) {
    remote::Request request;
    request.open = remote::Open{"four_bar_right", std::vector<std::string>(ports, "tip"), {}, {}, "", slots};
    return tell(request).refusal;
  };
  EXPECT_THAT(open(11, 1), HasSubstr("1 to 10 are to be had"));
  EXPECT_THAT(open(10, 4), HasSubstr("3 ports"));
  EXPECT_EQ(open(10, 3), "");
  EXPECT_EQ(open(10, 1), "");
  EXPECT_THAT(open(10, 1), HasSubstr("2 modules at a time"));
  const auto ask = [&](const remote::Action& action, std::size_t times) {
    remote::Request request;
    request.ask.emplace().calls.push_back({1, std::vector<remote::Action>(times, action)});
    return tell(request).refusal;
  };
  remote::Action evaluate, save;
  evaluate.evaluate = {0.0, remote::StateSum{{0}, {1.0}, false}, 2};
  save.save = {std::vector<std::uint32_t>(11, 0)};
  EXPECT_EQ(ask(evaluate, 1), "");
  EXPECT_THAT(ask(evaluate, 2), HasSubstr("longer than 5000 bytes"));
  EXPECT_THAT(ask(evaluate, 21), HasSubstr("20 actions of 2 modules"));
  EXPECT_THAT(ask(save, 1), HasSubstr("more slots"));
}

/// Whatever is asked, the host answers or refuses: no order of actions breaks it.
TEST(Conversations, EndureActionsInAnyOrder) {
  Host host = chain_host();
  std::mt19937 random(23);
  const auto number = [&](int most) { return static_cast<std::uint32_t>(std::uniform_int_distribution<int>(0, most)(random)); };
  Conversation talk(host.parts, kSealer);
  const auto tell = [&](const remote::Request& request) {
    return WireReader::message<remote::Reply>(talk.answer(WireWriter::text(request)));
  };
  remote::Request hello, open;
  open.open = remote::Open{"four_bar_right", {"tip"}, {}, {0.0, -9.81, 0.0}, "projection", 6};
  EXPECT_THAT(tell(open).refusal, HasSubstr("begins with Hello"));
  hello.hello = {1, 9, "test"};
  EXPECT_EQ(tell(hello).welcome->version, 1U);
  hello.hello = {2, 9, "test"};
  EXPECT_THAT(tell(hello).refusal, HasSubstr("speaks versions 2 to 9"));
  EXPECT_EQ(tell(open).opened->module, 1U);
  int granted = 0;
  for (int i = 0; i < 3000; ++i) {
    remote::Request request;
    request.ask.emplace().calls.push_back({1 + number(20) / 20, {}});
    for (std::uint32_t k = 0; k <= number(4); ++k) {
      remote::Action& action = request.ask->calls[0].actions.emplace_back();
      const auto sum = [&] { return remote::StateSum{{0, number(7)}, {1.0, number(9) == 0 ? 1e300 : 0.01}, number(1) == 0}; };
      switch (number(8)) {
        case 0:
          action.advance = {number(3), std::vector<double>(number(12) == 0 ? 5 : 6, 1.0), number(7)};
          break;
        case 1:
          action.keep = {number(7)};
          break;
        case 2:
          action.accept.emplace();
          break;
        case 3:
          action.set_input = {"u", 1.0};
          break;
        case 4:
          action.evaluate = {0.1, sum(), number(3)};
          break;
        case 5:
          action.record = {std::vector<double>(6, 0.5)};
          break;
        case 6:
          action.weigh = {sum(), sum(), sum(), 1e-6, 1e-9};
          break;
        case 7:
          action.save = {{number(6)}};
          break;
        default:
          action.restore = {number(1) == 0 ? "sealed" : "sealedfour_bar_right", {number(6)}};
          break;
      }
    }
    const remote::Reply reply = tell(request);
    granted += reply.refusal.empty() ? 1 : 0;
  }
  EXPECT_GT(granted, 300);
}

}  // namespace
}  // namespace linkwork
