#include "linkwork/io/checkpoint_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>

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
  SavedRun& run = checkpoint.one_piece.emplace();
  run.q = {0.1, -0.0, 5e-324, 1.7976931348623157e308, std::numeric_limits<double>::infinity(), std::nan("")};
  run.progress.summary.notes = {"a note"};
  run.warned_limit = {0, 1};
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
  ASSERT_TRUE(read.one_piece);
  EXPECT_FALSE(read.modules);
  for (std::size_t i = 0; i + 1 < written.one_piece->q.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(read.one_piece->q[i]), std::bit_cast<std::uint64_t>(written.one_piece->q[i])) << i;
  EXPECT_TRUE(std::isnan(read.one_piece->q.back()));
  EXPECT_EQ(read.files.front().text, written.files.front().text);
  EXPECT_EQ(read.request.settings, written.request.settings);
  EXPECT_EQ(read.checked, written.checked);
  EXPECT_EQ(read.one_piece->switching.records.front().impulses.front().second, 0.3);
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
  EXPECT_THAT(refusal("linkwork checkpoint 99 1 0\nx"), HasSubstr("format 99, and this program reads 1"));
  EXPECT_THAT(refusal("linkwork checkpoint 1 x\n"), HasSubstr("damaged in its first line"));
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
  EXPECT_THROW(write_durable_file(folder / "nowhere" / "file", "text"), InputError);
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
    TrajectoryFile trajectory(file, kept);
    trajectory.write(std::vector{1.0, 3.0});
    trajectory.close();
    EXPECT_EQ(trajectory.rows(), 2);
  }
  EXPECT_EQ(contents(file), "t,x\n0,1\n1,3\n");
  std::ofstream(file, std::ios::binary) << "t,x\n0,2\n1,3\n";
  EXPECT_THROW(TrajectoryFile(file, kept), InputError);
  std::ofstream(file, std::ios::binary) << "t,x\n";
  EXPECT_THROW(TrajectoryFile(file, kept), InputError);
  fs::remove(file);
  EXPECT_THROW(TrajectoryFile(file, kept), InputError);
}

}  // namespace
}  // namespace linkwork
