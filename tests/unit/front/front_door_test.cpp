#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "examples/rocker_module.h"
#include "linkwork/linkwork.h"
#include "tests/support/mechanisms.h"

namespace lw = linkwork;

namespace {

using Eigen::Vector3d;
using testing::HasSubstr;

std::filesystem::path model_file(const std::string& name) { return lw::test::source_dir() / "models" / (name + ".toml"); }

/// The four-bar of models/four_bar.toml, without its torque.
lw::Builder four_bar() {
  lw::Builder b("four-bar");
  const auto crank = b.body("crank", lw::rod({0, 0, 0}, {1, 0, 0}, 1.0));
  const auto coupler = b.body("coupler", lw::rod({0, 0, 0}, {4, 0, 0}, 1.0));
  const auto rocker = b.body("rocker", lw::rod({0, 0, 0}, {2.5, 0, 0}, 1.0));
  b.revolute("theta", b.ground(), crank).position(1.5708).fixed();
  b.revolute("alpha", crank.at(1, 0, 0), coupler).position(-1.2175187539062247);
  b.revolute("phi", b.ground().at(3, 0, 0), rocker).position(1.2648595635335869607);
  b.pin("cut", coupler.at(4, 0, 0), rocker.at(2.5, 0, 0));
  return b;
}

std::string complaint(const std::function<void()>& act) {
  try {
    act();
  } catch (const lw::InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(FrontDoor, AModelBuiltInCodeRunsToTheBitsOfItsFile) {
  lw::Builder b = four_bar();
  b.torque("theta", 6.0);
  const lw::RunOptions options{.integrator = "rk4", .end = 1.0, .step = 1e-3};
  const lw::Results built = lw::run(b.build(), options), read = lw::run(lw::load(model_file("four_bar")), options);
  const lw::Results written = lw::run(lw::parse(b.to_toml()), options);
  EXPECT_EQ(written.columns, built.columns);
  EXPECT_EQ(written.values, built.values);
  EXPECT_GT(built.columns.size(), 30U);
  for (const std::string& column : built.columns) EXPECT_EQ(built[column], read[column]) << column;
  EXPECT_NEAR(built["q.theta"].tail(1)[0], 2.8281720120366263, 1e-8);
}

TEST(FrontDoor, TheProgramOfTheDocumentationCompilesAndRuns) {
  lw::Builder b = four_bar();
  b.torque("theta", "u.motor").input("motor");
  b.force([](const lw::Kinematics& k, lw::Forces& f) {
    const lw::BodyTwist twist = k.twist("coupler");
    f.on("coupler", {-0.1 * twist.linear.norm() * twist.linear, Vector3d::Zero()});
  });
  const lw::Mechanism m = b.build();
  lw::Run run(m, {.integrator = "rk4", .step = 1e-3});
  while (run.t() < 1.0) {
    run.input("motor") = -5 * run.v("theta");
    run.step();
  }
  lw::Evaluation e = m.evaluate(run.state());
  EXPECT_TRUE(std::isfinite(e.vdot("theta")));
  EXPECT_GT(e.reaction("alpha").force.norm(), 0.1);
  EXPECT_EQ(e.jacobian("coupler", {2, 0, 0}).cols(), 3);
  EXPECT_LT(m.inverse_dynamics(run.state(), e.vdot()).norm(), 1e-9);
  EXPECT_LT(run.summary().energy_drift, 1e-6);
}

TEST(FrontDoor, WhatIsWrongWithAModelInCodeIsToldInTheWordsOfTheFileReader) {
  const auto changed = [](const std::function<void(lw::Builder&)>& change) {
    return complaint([&] {
      lw::Builder b = four_bar();
      change(b);
      b.build();
    });
  };
  EXPECT_THAT(changed([](lw::Builder& b) { b.revolute("x", lw::Frame("rokcer"), lw::Frame("crank")); }),
              HasSubstr("four-bar, joint 'x': unknown body 'rokcer'; did you mean 'rocker'?"));
  EXPECT_THAT(changed([](lw::Builder& b) { b.body("bare", {}); }),
              HasSubstr("four-bar, body 'bare': the body 'bare' has no 'mass'; expected mass, or a solid"));
  EXPECT_THAT(changed([](lw::Builder& b) { b.body("crank", lw::mass(1)); }),
              HasSubstr("the name 'crank' is taken by another body"));
  EXPECT_THAT(changed([](lw::Builder& b) { b.body("heavy", lw::mass(-1)); }), HasSubstr("'mass' is -1; expected"));
  EXPECT_THAT(changed([](lw::Builder& b) { b.torque("theta", "2*q.thetta"); }), HasSubstr("unknown joint 'thetta'"));
  EXPECT_THAT(changed([](lw::Builder& b) { b.torque("theta", "2*("); }), HasSubstr("four-bar, force 1: "));
  EXPECT_THAT(changed([](lw::Builder& b) { b.joint("hinge", "x", b.ground(), lw::Frame("crank")); }), HasSubstr("'hinge'"));
  EXPECT_THAT(changed([](lw::Builder& b) { b.setting("stpe", 1e-3); }), HasSubstr("did you mean 'step'?"));
  EXPECT_THAT(changed([](lw::Builder& b) { b.force(lw::CustomForce{"nothing", {}}); }), HasSubstr("'nothing' does nothing"));
  EXPECT_THAT(complaint([] { lw::Builder("empty").build(); }), HasSubstr("no bodies"));
  EXPECT_THAT(complaint([] { lw::load("no such file.toml"); }), HasSubstr("no such file.toml"));
}

TEST(FrontDoor, WrongNamesAndOptionsAreNamed) {
  const lw::Mechanism m = four_bar().build();
  lw::Run run(m);
  lw::Evaluation e = m.evaluate(m.start());
  EXPECT_THAT(complaint([&] { static_cast<void>(run.q("thet")); }),
              HasSubstr("unknown coordinate 'thet'; did you mean 'theta'?"));
  EXPECT_THAT(complaint([&] { run.input("motor") = 1.0; }), HasSubstr("unknown input 'motor'"));
  EXPECT_THAT(complaint([&] { run.value("q.thet"); }), HasSubstr("unknown column"));
  EXPECT_THAT(complaint([&] { e.jacobian("crnak"); }), HasSubstr("did you mean 'crank'?"));
  EXPECT_THAT(complaint([&] { e.reaction("alhpa"); }), HasSubstr("did you mean 'alpha'?"));
  EXPECT_THAT(complaint([&] { static_cast<void>(e.lambda("cut.z")); }), HasSubstr("unknown row"));
  EXPECT_THAT(complaint([&] { lw::Run(m, {.integrator = "rk5"}); }), HasSubstr("unknown integrator 'rk5'"));
  EXPECT_THAT(complaint([&] { lw::Run(m, {.step = -1.0}); }), HasSubstr("step: is -1; expected a positive number"));
  EXPECT_THAT(complaint([&] { lw::load(model_file("four_bar"), {{"torqe", 1}}); }), HasSubstr("did you mean 'torque'?"));
  EXPECT_THAT(complaint([&] { run.controller(0.0, [](lw::Run&) {}); }), HasSubstr("period"));
  lw::State wrong = m.start();
  wrong.q.resize(2);
  EXPECT_THAT(complaint([&] { m.evaluate(wrong); }), HasSubstr("expected 3 and 3"));
  EXPECT_THAT(complaint([&] { run.set_state(wrong); }), HasSubstr("3 finite positions"));
}

/// A custom force of the same law as one of the model gives the same motion, in any coordinates and with any kind of integrator.
/// States are moved back after every step: with the usual tolerance rounding decides after which, and moves them by up to 1e-11.
TEST(CustomForce, ASpringInCodeEqualsTheSpringOfTheModel) {
  const double k = 30.0, c = 0.7, length = 2.0;
  const Vector3d at(1.3, 0.2, -0.1), fixed(0.5, 2.0, 0.4);
  lw::Builder with_spring = four_bar();
  with_spring.spring(with_spring.ground().at(fixed), lw::Frame("coupler").at(at), k, length, c);
  lw::Builder with_force = four_bar();
  for (lw::Builder* builder : {&with_spring, &with_force}) builder->setting("constraint_tolerance", 1e-13);
  const auto span = [=](const lw::Kinematics& kin) { return Vector3d(kin.position("coupler", at) - fixed); };
  const auto rate = [=](const lw::Kinematics& kin) { return span(kin).normalized().dot(kin.velocity("coupler", at)); };
  with_force.force(
      lw::CustomForce{"spring",
                      [=](const lw::Kinematics& kin, lw::Forces& f) {
                        const Vector3d d = span(kin);
                        f.on("coupler", {-(k * (d.norm() - length) + c * rate(kin)) * d.normalized(), Vector3d::Zero()}, at);
                      },
                      [=](const lw::Kinematics& kin) { return 0.5 * k * std::pow(span(kin).norm() - length, 2); },
                      [=](const lw::Kinematics& kin) { return -c * rate(kin) * rate(kin); }});
  for (const char* coordinates : {"TA", "CE", "FA"})
    for (const char* integrator : {"rk4", "dopri45", "cvode-bdf"}) {
      const lw::RunOptions options{
          .coordinates = coordinates, .integrator = integrator, .end = 1.0, .step = 1e-3, .rtol = 1e-9, .atol = 1e-11};
      const lw::Results a = lw::run(with_spring.build(), options), b = lw::run(with_force.build(), options);
      SCOPED_TRACE(std::string(coordinates) + " " + integrator);
      ASSERT_TRUE(a.summary.completed && b.summary.completed) << a.summary.status << b.summary.status;
      const double tolerance = std::string(integrator) == "rk4" ? 1e-12 : 1e-5;
      for (const char* column : {"q.theta", "v.phi", "energy.total"})
        EXPECT_LT((a[column] - b[column]).cwiseAbs().maxCoeff(), tolerance) << column;
      EXPECT_NEAR(b.summary.energy_drift, a.summary.energy_drift, tolerance);
    }
}

TEST(CustomForce, WorkOfDragClosesTheEnergyBalanceAndAWrongPotentialDoesNot) {
  lw::Builder drag = four_bar();
  drag.torque("theta", 6.0);
  drag.force([](const lw::Kinematics& k, lw::Forces& f) {
    for (const char* body : {"crank", "coupler", "rocker"}) {
      const Vector3d at(0.7, 0, 0), v = k.velocity(body, at);
      f.on(body, {-0.8 * v.norm() * v, -0.05 * k.twist(body).angular}, at);
    }
    f.on_joint("phi", -0.2 * k.v("phi"));
  });
  EXPECT_LT(lw::run(drag.build(), {.end = 2.0}).summary.energy_drift, 1e-9);
  lw::Builder wrong = four_bar();
  wrong.force(lw::CustomForce{"wrong", [](const lw::Kinematics& k, lw::Forces& f) { f.on_joint("theta", -3.0 * k.q("theta")); },
                              [](const lw::Kinematics& k) { return 1.4 * std::pow(k.q("theta"), 2); }});
  EXPECT_GT(lw::run(wrong.build(), {.end = 1.0}).summary.energy_drift, 1e-3);
}

TEST(CustomForce, WhatIsNotFiniteIsNamedAndExceptionsReachTheCaller) {
  lw::Builder bad = four_bar();
  bad.force(lw::CustomForce{"aero", [](const lw::Kinematics& k, lw::Forces& f) {
                              f.on("rocker", {Vector3d::Constant(std::sqrt(0.5 - k.t())), Vector3d::Zero()});
                            }});
  EXPECT_THAT(lw::run(bad.build(), {.end = 1.0}).summary.status, HasSubstr("the custom force 'aero' on body 'rocker'"));
  lw::Builder wrong = four_bar();
  wrong.force([](const lw::Kinematics&, lw::Forces& f) { f.on_joint("thetta", 1.0); });
  EXPECT_THAT(complaint([&] { lw::run(wrong.build(), {.end = 1.0}); }), HasSubstr("did you mean 'theta'?"));
}

TEST(Controller, SampledInCodeEqualsTheSameLawSteppedByHand) {
  lw::Builder b = four_bar();
  b.torque("theta", "u.motor").input("motor");
  const lw::Mechanism m = b.build();
  const auto law = [](lw::Run& run) { return 40.0 * (1.2 - run.q("theta")) - 8.0 * run.v("theta"); };
  for (const char* coordinates : {"TA", "CE", "FA"}) {
    const lw::RunOptions options{.coordinates = coordinates, .step = 1e-3};
    lw::Run sampled(m, options), by_hand(m, options);
    std::vector<double> calls;
    sampled.controller(4e-3, [&](lw::Run& run) {
      calls.push_back(run.t());
      run.input("motor") = law(run);
    });
    sampled.advance_to(0.5);
    for (int i = 0; i < 500; ++i) {
      if (i % 4 == 0) by_hand.input("motor") = law(by_hand);
      by_hand.step();
    }
    EXPECT_EQ(calls.size(), 126U);  // at the start and at the end too
    EXPECT_LT((sampled.state().q - by_hand.state().q).cwiseAbs().maxCoeff(), 1e-12) << coordinates;
    EXPECT_LT((sampled.state().v - by_hand.state().v).cwiseAbs().maxCoeff(), 1e-12) << coordinates;
  }
}

/// The same law in four forms: expression, table and state of the model, custom force.
TEST(Controller, ALawIsTheSameAsExpressionTableStateAndCustomForce) {
  const auto with = [](const std::function<void(lw::Builder&)>& add) {
    lw::Builder b = four_bar();
    add(b);
    return lw::run(b.build(), {.end = 1.0, .step = 1e-3});
  };
  const lw::Results expression = with([](lw::Builder& b) { b.torque("theta", "40*(1.2 - q.theta) - 8*v.theta"); });
  const lw::Results table = with([](lw::Builder& b) {
    b.table("gain", {-10, 10}, {-400, 400});
    b.sensor("error", "1.2 - q.theta");
    b.torque("theta", "gain(s.error) - 8*v.theta");
  });
  const lw::Results state = with([](lw::Builder& b) {
    b.state("turned", "v.theta", 1.5708);
    b.torque("theta", "40*(1.2 - z.turned) - 8*v.theta");
  });
  const lw::Results custom = with([](lw::Builder& b) {
    b.force(
        [](const lw::Kinematics& k, lw::Forces& f) { f.on_joint("theta", 40.0 * (1.2 - k.q("theta")) - 8.0 * k.v("theta")); });
  });
  for (const lw::Results* other : {&table, &state, &custom}) {
    EXPECT_LT((expression["q.theta"] - (*other)["q.theta"]).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((expression["v.phi"] - (*other)["v.phi"]).cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_LT(other->summary.energy_drift, 1e-9);
  }
}

/// An arm on another, as two modules with a motor each, whose inputs are set from outside: as in one piece.
TEST(LiveRun, InputsOfModulesAreSetAndRestoredAsInOnePiece) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "linkwork_arms";
  std::filesystem::create_directories(folder);
  lw::Builder arm("arm");
  arm.setting("gravity", lw::list(std::vector{0.0, -9.81, 0.0}));
  const auto base = arm.body("base", lw::mass(1.0, {0, 0, 0}, Eigen::Matrix3d::Identity() * 0.02));
  const auto link = arm.body("link", lw::rod({0, 0, 0}, {0.7, 0, 0}, 1.2));
  arm.free("base", arm.ground(), base);
  arm.revolute("turn", base, link).position(0.4);
  arm.torque("turn", "u.motor").input("motor", 0.3);
  arm.add("port", {{"name", "foot"}, {"body", "base"}});
  arm.add("port", {{"name", "hand"}, {"body", "link"}, {"at", lw::list(Vector3d(0.7, 0, 0))}});
  std::ofstream(folder / "arm.toml") << arm.to_toml();
  lw::Builder both("both");
  for (const char* name : {"a", "b"}) both.add("module", {{"name", name}, {"file", "arm.toml"}});
  both.add("connection", {{"name", "first"}, {"type", "weld"}, {"a", "ground"}, {"b", "a.foot"}});
  both.add("connection", {{"name", "second"}, {"type", "weld"}, {"a", "a.hand"}, {"b", "b.foot"}});
  const lw::Mechanism m = lw::parse(both.to_toml(), (folder / "both.toml").string());
  lw::Run modules(m), one_piece(m, {.glue = "none"});
  for (lw::Run* run : {&modules, &one_piece})
    run->controller(0.01, [](lw::Run& r) {
      r.input("a.motor") = 30.0 * (0.5 - r.q("a.turn")) - 3.0 * r.v("a.turn");
      r.input("b.motor") = -2.0 * r.v("b.turn");
    });
  for (lw::Run* run : {&modules, &one_piece}) run->advance_to(0.2);
  EXPECT_NE(modules.summary().glue, "none");
  const auto saved = modules.save();
  for (lw::Run* run : {&modules, &one_piece}) run->advance_to(0.5);
  EXPECT_NEAR(modules.q("b.turn"), one_piece.q("b.turn"), 1e-8);
  EXPECT_NEAR(modules.value("u.a.motor"), one_piece.value("u.a.motor"), 1e-6);
  const double there = modules.q("b.turn");
  modules.restore(*saved);
  modules.advance_to(0.5);
  EXPECT_NEAR(modules.q("b.turn"), there, 1e-12);
  EXPECT_THAT(complaint([&] { modules.input("a.motr") = 1.0; }), HasSubstr("did you mean 'a.motor'?"));
}

TEST(Controller, StepsEndAtItsTimesWhateverTheStepAndRowsShowItsNewValue) {
  lw::Builder b = four_bar();
  b.torque("theta", "u.motor").input("motor");
  for (const char* integrator : {"rk4", "dopri45", "cvode-bdf"}) {
    lw::Run run(b.build(), {.integrator = integrator, .step = 3e-3, .every = 0.05});
    std::vector<double> times, rows;
    run.controller(0.05, [&](lw::Run& r) {
      times.push_back(r.t());
      r.input("motor") = static_cast<double>(times.size());
    });
    const auto columns = run.columns();
    const auto u = std::ranges::find(columns, "u.motor") - columns.begin();
    run.on_row([&](std::span<const double> row) { rows.push_back(row[static_cast<std::size_t>(u)]); });
    run.advance_to(0.5);
    ASSERT_EQ(times.size(), 11U) << integrator;
    ASSERT_EQ(rows.size(), 11U) << integrator;
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_NEAR(times[i], 0.05 * static_cast<double>(i), 1e-12) << integrator;
      EXPECT_EQ(rows[i], static_cast<double>(i + 1)) << integrator;
    }
    EXPECT_EQ(static_cast<double>(run.input("motor")), 11.0);
  }
}

TEST(Controller, WhatItThrowsReachesTheCaller) {
  lw::Run run(four_bar().build());
  run.controller(0.01, [](lw::Run& r) {
    if (r.t() > 0.1) throw std::domain_error("enough");
  });
  EXPECT_THROW(run.advance_to(1.0), std::domain_error);
  EXPECT_NEAR(run.t(), 0.11, 1e-12);
}

TEST(LiveRun, SavedRestoredAndResetRunsRepeatTheirBitsInputsIncluded) {
  lw::Builder b = four_bar();
  b.torque("theta", "u.motor").input("motor");
  const lw::Mechanism m = b.build();
  for (const char* coordinates : {"TA", "CE", "FA"}) {
    lw::Run run(m, {.coordinates = coordinates});
    run.controller(0.02, [](lw::Run& r) { r.input("motor") = -3.0 * r.v("theta"); });
    run.advance_to(0.313);
    const auto saved = run.save();
    run.advance_to(0.8);
    const lw::State first = run.state();
    run.input("motor") = 100.0;
    run.advance_to(0.9);
    run.restore(*saved);
    EXPECT_DOUBLE_EQ(run.t(), 0.313);
    run.advance_to(0.8);
    EXPECT_EQ(run.state().q, first.q) << coordinates;
    run.reset();
    EXPECT_EQ(run.t(), 0.0);
    run.advance_to(0.313);
    run.save();
    run.advance_to(0.8);
    EXPECT_LT((run.state().q - first.q).cwiseAbs().maxCoeff(), 1e-12) << coordinates;
  }
}

TEST(LiveRun, GoesOnFromAStateOfAnotherRunInAnyCoordinates) {
  const lw::Mechanism m = lw::load(model_file("spatial_slider_crank"));
  lw::Run first(m, {.coordinates = "TA"});
  first.advance_to(0.2);
  const lw::State at = first.state();
  first.advance_to(0.5);
  for (const char* coordinates : {"TA", "FA"}) {
    lw::Run other(m, {.coordinates = coordinates});
    other.set_state(at);
    EXPECT_EQ(other.t(), at.t);
    other.advance_to(0.5);
    EXPECT_LT((other.state().q - first.state().q).cwiseAbs().maxCoeff(), 1e-6) << coordinates;
    EXPECT_LT((other.state().v - first.state().v).cwiseAbs().maxCoeff(), 1e-6) << coordinates;
  }
}

TEST(LiveRun, WorksForModulesAsForOnePiece) {
  const lw::Mechanism m = lw::load(model_file("four_bar_modules"));
  const lw::Mechanism own = m.with_module("right", [] {
    return std::make_unique<RockerModule>("right.phi", RockerModule::Rod{3.0, 2.5, 1.0, 9.81, 1.2648595635335869607});
  });
  lw::Run modules(m), one_piece(m, {.glue = "none"}), with_own(own);
  for (lw::Run* run : {&modules, &one_piece, &with_own}) run->advance_to(1.0);
  EXPECT_NEAR(modules.q("left.theta"), 2.828172012, 1e-8);
  EXPECT_NEAR(one_piece.q("left.theta"), modules.q("left.theta"), 1e-9);
  EXPECT_NEAR(with_own.q("left.theta"), modules.q("left.theta"), 1e-9);
  EXPECT_NEAR(modules.value("v.right.phi"), one_piece.v("right.phi"), 1e-9);
  EXPECT_LT((modules.state().q - one_piece.state().q).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_THAT(complaint([&] { lw::Run(own, {.glue = "none"}); }), HasSubstr("'right' of a program cannot be part of one piece"));
  EXPECT_THAT(complaint([&] { m.with_module("rihgt", {}); }), HasSubstr("did you mean 'right'?"));
}

TEST(LiveRun, AnEventThatEndsItIsToldOnceAndThenIsAnError) {
  lw::Builder b = four_bar();
  b.add("event", {{"name", "there"}, {"when", "q.theta - 1.4"}, {"do", std::vector<lw::Value>{"stop"}}});
  lw::Run run(b.build());
  while (run.step()) ASSERT_LT(run.t(), 5.0);
  EXPECT_NEAR(run.q("theta"), 1.4, 1e-9);
  EXPECT_THROW(run.step(), lw::SimulationError);
}

/// M vdot + bias = applied + A' lambda and A vdot = b; J v is the velocity of a point; v' M v / 2 the kinetic energy; forces
/// along all coordinates give back what they were; for every ready model that is one mechanism.
TEST(Evaluation, HoldsWhatItPromisesOnEveryReadyModelAtRandomStates) {
  std::mt19937 random(20240607);
  int models = 0;
  for (const std::string& name : lw::test::library_models()) {
    const lw::Mechanism m = lw::load(model_file(name));
    if (!m.spec().modules.empty() || m.velocities().size() > 120) continue;
    SCOPED_TRACE(name);
    ++models;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const lw::State state = repeat == 0 ? m.start() : lw::test::random_consistent_state(*m.model(), random);
      lw::Evaluation e = m.evaluate(state);
      const Eigen::VectorXd& v = e.state().v;
      const Eigen::MatrixXd M = e.mass_matrix(), A = e.constraint_jacobian();
      const Eigen::VectorXd left = M * e.vdot() + e.bias(), right = e.applied() + A.transpose() * e.lambda();
      EXPECT_LT((left - right).norm(), 1e-8 * (1.0 + left.norm() + e.applied().norm()));
      EXPECT_NEAR(e.kinetic_energy(), 0.5 * v.dot(M * v), 1e-9 * (1.0 + e.kinetic_energy()));
      for (const std::string& body : m.bodies()) {
        const Vector3d at(0.3, -0.2, 0.5);
        const Eigen::VectorXd moves = e.jacobian(body, at) * v;
        const double speed = 1.0 + moves.norm();
        EXPECT_LT((moves.head(3) - e.kinematics().velocity(body, at)).norm(), 1e-11 * speed) << body;
        EXPECT_LT((moves.tail(3) - e.kinematics().twist(body).angular).norm(), 1e-11 * speed) << body;
      }
      for (const std::string& joint : m.joints()) EXPECT_TRUE(e.reaction(joint).force.allFinite()) << joint;
    }
  }
  EXPECT_GT(models, 25);
}

TEST(Evaluation, InverseDynamicsGivesTheForcesThatForwardDynamicsTakes) {
  std::mt19937 random(7);
  for (const char* const name : {"double_pendulum", "four_bar", "five_bar_redundant", "spatial_slider_crank"}) {
    const lw::Mechanism m = lw::load(model_file(name));
    SCOPED_TRACE(name);
    const lw::State state = lw::test::random_consistent_state(*m.model(), random);
    const std::vector<std::string> coordinates = m.velocities();
    const Eigen::VectorXd efforts = lw::test::uniform_vector(random, static_cast<int>(coordinates.size()));
    const lw::Mechanism pushed = m.with(lw::CustomForce{"push", [&](const lw::Kinematics&, lw::Forces& f) {
                                                          for (std::size_t k = 0; k < coordinates.size(); ++k)
                                                            f.on_joint(coordinates[k], efforts[static_cast<Eigen::Index>(k)]);
                                                        }});
    const Eigen::VectorXd vdot = pushed.evaluate(state).vdot();
    const Eigen::VectorXd found = m.inverse_dynamics(state, vdot);
    const lw::Mechanism again = m.with(lw::CustomForce{"again", [&](const lw::Kinematics&, lw::Forces& f) {
                                                         for (std::size_t k = 0; k < coordinates.size(); ++k)
                                                           f.on_joint(coordinates[k], found[static_cast<Eigen::Index>(k)]);
                                                       }});
    EXPECT_LT((again.evaluate(state).vdot() - vdot).norm(), 1e-9 * (1.0 + vdot.norm()));
    EXPECT_LE(found.norm(), efforts.norm() * (1.0 + 1e-12));
    if (m.closures().empty()) {
      EXPECT_LT((found - efforts).norm(), 1e-9);
    }
  }
  const lw::Mechanism m = lw::load(model_file("four_bar"));
  lw::Evaluation e = m.evaluate(m.start());
  const Eigen::VectorXd more = e.vdot() + Eigen::Vector3d(0, 1, 0);
  EXPECT_THAT(complaint([&] { m.inverse_dynamics(m.start(), more); }), HasSubstr("would open 'cut."));
  EXPECT_LT(m.inverse_dynamics(m.start(), e.vdot(), {"phi"}).norm(), 1e-9);
  const lw::Mechanism two = lw::load(model_file("double_pendulum"));
  EXPECT_THAT(complaint([&] {
                Eigen::VectorXd vdot = two.evaluate(two.start()).vdot();
                vdot[0] += 1.0;
                two.inverse_dynamics(two.start(), vdot, {two.velocities()[0]});
              }),
              HasSubstr("drive 1 of 2 degrees of freedom"));
}

TEST(Evaluation, ReactionsAreThoseOfTheRunsRows) {
  for (const char* coordinates : {"TA", "CE", "FA"}) {
    lw::Run run(lw::load(model_file("spatial_slider_crank")), {.coordinates = coordinates});
    if (std::string(coordinates) == "TA") run.advance_to(0.1);
    run.advance_to(0.3);
    lw::Evaluation e = run.evaluate();
    for (const std::string& joint : run.mechanism().joints()) {
      const lw::Load load = e.reaction(joint);
      const Vector3d force(run.value("force." + joint + ".x"), run.value("force." + joint + ".y"),
                           run.value("force." + joint + ".z"));
      EXPECT_LT((load.force - force).norm(), 1e-8 * (1.0 + force.norm())) << joint << " " << coordinates;
    }
  }
}

TEST(Evaluation, OfARunSeesItsInputsAndWhatIsInForce) {
  lw::Run run(lw::load(model_file("slip_to_roll")));
  run.advance_to(0.05);
  EXPECT_NEAR(run.evaluate().vdot(run.mechanism().velocities()[0]), run.value("a." + run.mechanism().velocities()[0]), 1e-9);
  lw::Builder b = four_bar();
  b.torque("theta", "u.motor").input("motor");
  lw::Run driven(b.build());
  driven.input("motor") = 25.0;
  driven.step();
  EXPECT_NEAR(driven.evaluate().vdot("theta"), driven.value("a.theta"), 1e-10);
  EXPECT_GT(std::abs(driven.evaluate().vdot("theta") - driven.mechanism().evaluate(driven.state()).vdot("theta")), 1.0);
}

TEST(Mechanism, IsSharedByThreads) {
  const lw::Mechanism m = lw::load(model_file("four_bar"));
  const double expected = m.evaluate(m.start()).vdot("theta");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t i = 0; i < wrong.size(); ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 200; ++k) wrong[i] += m.evaluate(m.start()).vdot("theta") != expected;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(Version, IsANumberAndAText) {
  EXPECT_EQ(std::string(LINKWORK_VERSION), std::to_string(LINKWORK_VERSION_MAJOR) + "." + std::to_string(LINKWORK_VERSION_MINOR) +
                                               "." + std::to_string(LINKWORK_VERSION_PATCH));
}

}  // namespace
