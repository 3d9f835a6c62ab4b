#include "linkwork/io/checkpoint_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <system_error>

#include "linkwork/io/durable_file.h"
#include "linkwork/io/trajectory_file.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

Checkpoint some_checkpoint() {
  Checkpoint checkpoint;
  checkpoint.program = "0.0";
  checkpoint.request = {"/models/a b.toml", {"n=3"}, {{"--end", "2"}, {"--glue", "none"}}, "/out", true, 0.1};
  checkpoint.files = {{"/models/a b.toml", "# \"text\"\n\tä"}};
  checkpoint.rows = 17;
  checkpoint.bytes = 1234567890123;
  checkpoint.checked = 0xfedcba9876543210U;
  SavedRun& run = checkpoint.run;
  run.parts = {{{0.1, -0.0, 5e-324, 1.7976931348623157e308}, {0.1, std::numeric_limits<double>::infinity(), std::nan("")}}};
  run.h = 0.01;
  run.summary.notes = {"a note"};
  run.remarks = {{0.5, "limits of a", "joint 'a' left its limits"}};
  run.switching.rows = {0, 1};
  EventRecord& event = run.switching.records.emplace_back();
  event.name = "latch";
  event.impulses = {{"latch.x", 0.3}};
  run.switching.recent = {{}, {1.0 / 3.0}};
  return checkpoint;
}

TEST(CheckpointFile, GivesBackEveryBit) {
  const Checkpoint written = some_checkpoint();
  const std::string text = checkpoint_text(written);
  const Checkpoint read = parse_checkpoint(text, "file");
  EXPECT_EQ(checkpoint_text(read), text);
  const SavedPart &part = read.run.parts.at(0), &original = written.run.parts[0];
  for (std::size_t i = 0; i < original.x.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(part.x.at(i)), std::bit_cast<std::uint64_t>(original.x[i])) << i;
  EXPECT_EQ(part.memory[1], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(part.memory.back()));
  EXPECT_EQ(read.run.remarks.at(0).text, written.run.remarks[0].text);
  EXPECT_EQ(read.files.front().text, written.files.front().text);
  EXPECT_EQ(read.request.settings, written.request.settings);
  EXPECT_EQ(read.checked, written.checked);
  EXPECT_EQ(read.run.switching.records.front().impulses.front().second, 0.3);
}

std::string refusal(const std::string& text) {
  try {
    parse_checkpoint(text, "run.ckpt");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CheckpointFile, SaysWhatIsWrongWithAFile) {
  const std::string text = checkpoint_text(some_checkpoint());
  EXPECT_THAT(refusal(""), HasSubstr("run.ckpt: is not a checkpoint"));
  EXPECT_THAT(refusal("t,q.theta\n"), HasSubstr("is not a checkpoint"));
  EXPECT_THAT(refusal("linkwork checkpoint 99 1 0\nx"), HasSubstr("format 99, and this program reads 2"));
  EXPECT_THAT(refusal("linkwork checkpoint 2 x\n"), HasSubstr("damaged in its first line"));
  EXPECT_THAT(refusal(text + "\n"), HasSubstr("is damaged"));
  for (const std::size_t size : {std::size_t{10}, std::size_t{25}, text.size() / 2, text.size() - 1})
    EXPECT_NE(refusal(text.substr(0, size)), "accepted") << size;
  EXPECT_THAT(refusal(text.substr(0, text.size() - 1)), HasSubstr("cut short"));
  const std::size_t body = text.find('\n') + 1;
  for (std::size_t at = body; at < text.size(); at += 7) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_THAT(refusal(damaged), HasSubstr("is damaged")) << at;
  }
}

/// Whoever makes a checkpoint by hand can make its checksum fit.
TEST(CheckpointFile, RefusesNumbersThatNoRunHas) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const auto crafted = [](const std::function<void(Checkpoint&)>& craft) {
    Checkpoint checkpoint = some_checkpoint();
    craft(checkpoint);
    return refusal(checkpoint_text(checkpoint));
  };
  EXPECT_EQ(crafted([](Checkpoint&) {}), "accepted");
  for (const double every : {0.0, -1.0, inf, nan})
    EXPECT_THAT(crafted([&](Checkpoint& c) { c.request.every = every; }), HasSubstr("the time between checkpoints"));
  for (const double t : {-1.0, inf, nan}) EXPECT_THAT(crafted([&](Checkpoint& c) { c.run.t = t; }), HasSubstr("its time"));
  for (const double h : {-1.0, 0.0, inf, nan}) EXPECT_THAT(crafted([&](Checkpoint& c) { c.run.h = h; }), HasSubstr("its step"));
  EXPECT_THAT(crafted([&](Checkpoint& c) { c.run.parts[0].x[1] = inf; }), HasSubstr("its state is not finite"));
  EXPECT_THAT(crafted([&](Checkpoint& c) { c.run.parts[0].x = {nan}; }), HasSubstr("its state is not finite"));
  EXPECT_THAT(crafted([&](Checkpoint& c) { c.run.glue = {-inf}; }), HasSubstr("its state is not finite"));
  for (const long count : {-1L, std::numeric_limits<long>::min(), std::numeric_limits<long>::max()}) {
    EXPECT_THAT(crafted([&](Checkpoint& c) { c.run.grid = count; }), HasSubstr("counted below 0"));
    EXPECT_THAT(crafted([&](Checkpoint& c) { c.run.outputs = count; }), HasSubstr("counted below 0"));
    EXPECT_THAT(crafted([&](Checkpoint& c) { c.run.next_checkpoint = count; }), HasSubstr("counted below 0"));
    EXPECT_THAT(crafted([&](Checkpoint& c) { c.rows = count; }), HasSubstr("counted below 0"));
  }
  EXPECT_THAT(crafted([](Checkpoint& c) { c.request.out = "out"; }), HasSubstr("paths are not absolute"));
  EXPECT_THAT(crafted([](Checkpoint& c) {
                c.run.parts.push_back({{1.0, std::nan("")}, {}});
              }),
              HasSubstr("its state is not finite"));
}

TEST(CheckpointFile, RefusesNumbersThatDoNotFitAndBracketsWithoutEnd) {
  const auto with_body = [](const std::string& body) {
    return refusal(fmt::format("linkwork checkpoint 2 {} {:016x}\n{}", body.size(), checksum(body), body));
  };
  const std::string text = checkpoint_text(some_checkpoint());
  const std::string body = text.substr(text.find('\n') + 1);
  const auto replaced = [&](const std::string& from, const std::string& to) {
    const std::size_t at = body.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return with_body(body.substr(0, at) + to + body.substr(at + from.size()));
  };
  EXPECT_EQ(with_body(body), "accepted");
  EXPECT_THAT(replaced(R"("rows":17)", R"("rows":18446744073709551615)"), HasSubstr("too large"));
  EXPECT_THAT(replaced(R"("rows":17)", R"("rows":1e300)"), HasSubstr("a whole number is missing"));
  EXPECT_THAT(replaced(R"("bytes":1234567890123)", R"("bytes":-1)"), HasSubstr("too large"));
  EXPECT_THAT(replaced(R"("start_rank":0)", R"("start_rank":4294967296)"), HasSubstr("too large"));
  EXPECT_THAT(replaced(R"("rows":[0,1])", R"("rows":[0,7])"), HasSubstr("neither 0 nor 1"));
  EXPECT_THAT(replaced(R"("rows":[0,1])", R"("rows":{"a":0})"), HasSubstr("a list is missing"));
  EXPECT_THAT(with_body(std::string(1'000'000, '[')), HasSubstr("nested too deeply"));
}

TEST(CheckpointFile, ReplacesNothingButACheckpoint) {
  const fs::path folder = fs::path(testing::TempDir()) / "linkwork_target";
  fs::remove_all(folder);
  fs::create_directories(folder / "folder");
  const auto trouble = [&](const char* name) -> std::string {
    try {
      check_checkpoint_target(folder / name);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  std::ofstream(folder / "model.toml") << "linkwork = 1\n";
  std::ofstream(folder / "older.ckpt") << checkpoint_text(some_checkpoint());
  std::ofstream(folder / "killed.ckpt.part") << "linkwork che";
  std::ofstream(folder / "work.part") << "my work\n";
  fs::create_symlink(folder / "older.ckpt", folder / "link.ckpt");
  fs::create_symlink(folder / "nothing", folder / "open.ckpt.part");
  EXPECT_EQ(trouble("new.ckpt"), "");
  EXPECT_EQ(trouble("older.ckpt"), "");
  EXPECT_EQ(trouble("killed.ckpt"), "");
  EXPECT_THAT(trouble("model.toml"), HasSubstr("is not a checkpoint, and would be lost"));
  EXPECT_THAT(trouble("work"), HasSubstr("work.part: exists, is not a checkpoint"));
  EXPECT_THAT(trouble("folder"), HasSubstr("is a directory"));
  EXPECT_THAT(trouble("link.ckpt"), HasSubstr("is a link"));
  EXPECT_THAT(trouble("open.ckpt"), HasSubstr("open.ckpt.part: is a link"));
}

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(DurableFile, ReplacesTheOldOneAndLeavesNothingElse) {
  const fs::path folder = fs::path(testing::TempDir()) / "linkwork_durable";
  fs::remove_all(folder);
  fs::create_directories(folder);
  write_durable_file(folder / "file", "old");
  write_durable_file(folder / "file", "new");
  EXPECT_EQ(contents(folder / "file"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  remove_durable_file(folder / "file");
  EXPECT_FALSE(fs::exists(folder / "file"));
  EXPECT_THROW(write_durable_file(folder / "nowhere" / "file", "text"), std::system_error);
  EXPECT_THROW(check_durable_file(folder / "nowhere" / "file"), InputError);
  check_durable_file(folder / "other");
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(DurableFile, FollowsNoLinks) {
  const fs::path folder = fs::path(testing::TempDir()) / "linkwork_links";
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream(folder / "precious") << "gold";
  fs::create_symlink(folder / "precious", folder / "file.part");
  write_durable_file(folder / "file", "text");
  fs::create_hard_link(folder / "precious", folder / "file.part");
  write_durable_file(folder / "file", "text");
  EXPECT_EQ(contents(folder / "precious"), "gold");
  EXPECT_EQ(contents(folder / "file"), "text");
}

TEST(TrajectoryFile, GoesOnFromACheckpointAndDiscardsWhatCameAfter) {
  const fs::path file = fs::path(testing::TempDir()) / "linkwork_trajectory.csv";
  const std::vector<std::string> columns{"t", "x"};
  TrajectoryFile::Extent kept;
  {
    TrajectoryFile trajectory(file, columns);
    trajectory.write(std::vector{0.0, 1.0});
    kept = trajectory.sync();
    trajectory.write(std::vector{1.0, 2.0});
    trajectory.close();
  }
  {
    TrajectoryFile trajectory(file, columns, kept);
    trajectory.write(std::vector{1.0, 3.0});
    trajectory.close();
    EXPECT_EQ(trajectory.rows(), 2);
  }
  EXPECT_EQ(contents(file), "t,x\n0,1\n1,3\n");
  EXPECT_THROW(TrajectoryFile(file, std::vector<std::string>{"t", "y"}, kept), InputError);
  EXPECT_THROW(TrajectoryFile(file, columns, {0, 0, kEmptyChecksum}), InputError);
  EXPECT_EQ(contents(file), "t,x\n0,1\n1,3\n");
  std::ofstream(file, std::ios::binary) << "t,x\n0,2\n1,3\n";
  EXPECT_THROW(TrajectoryFile(file, columns, kept), InputError);
  std::ofstream(file, std::ios::binary) << "t,x\n";
  EXPECT_THROW(TrajectoryFile(file, columns, kept), InputError);
  fs::remove(file);
  EXPECT_THROW(TrajectoryFile(file, columns, kept), InputError);
}

}  // namespace
}  // namespace linkwork
