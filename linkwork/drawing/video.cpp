#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "linkwork/drawing/image_file.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;

/// The program on the PATH; empty if it is not there.
fs::path find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, end)) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

/// Sends the pictures to ffmpeg.
class VideoWriter : public FilmWriter {
 public:
  VideoWriter(const fs::path& file, int width, int height, double rate) : file_(file) {
    const fs::path program = find_program("ffmpeg");
    if (program.empty())
      throw InputError({file.string(), 0, 0}, fmt::format("a {} film needs the program ffmpeg, which is not there", extension()),
                       "ffmpeg installed (Debian: apt install ffmpeg), or a .gif, which needs nothing");
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    input_ = ends[1];
    std::vector<std::string> words{program.string(),
                                   "-y",
                                   "-hide_banner",
                                   "-loglevel",
                                   "error",
                                   "-f",
                                   "rawvideo",
                                   "-pix_fmt",
                                   "rgb24",
                                   "-s",
                                   fmt::format("{}x{}", width, height),
                                   "-r",
                                   fmt::format("{}", rate),
                                   "-i",
                                   "pipe:0"};
    const std::vector<std::string> codec =
        extension() == ".webm"
            ? std::vector<std::string>{"-c:v", "libvpx-vp9", "-crf", "32", "-b:v", "0", "-row-mt", "1", "-cpu-used", "4"}
            : std::vector<std::string>{"-c:v", "libx264", "-crf", "20", "-preset", "fast", "-movflags", "+faststart"};
    words.insert(words.end(), codec.begin(), codec.end());
    words.insert(words.end(), {"-pix_fmt", "yuv420p", "file:" + fs::absolute(file).string()});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    const int failed = ::posix_spawn(&child_, program.c_str(), &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[0]);
    if (failed != 0) throw std::system_error(failed, std::generic_category(), "ffmpeg");
  }

  ~VideoWriter() override {
    if (input_ >= 0) ::close(input_);
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
  }

  void add(const Image& image) override {
    // A program that has gone is noticed by what it leaves, not by a signal.
    struct sigaction ignored {
    }, before{};
    ignored.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignored, &before);
    std::size_t sent = 0;
    while (sent < image.pixels.size()) {
      const ssize_t count = ::write(input_, image.pixels.data() + sent, image.pixels.size() - sent);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) break;
      sent += static_cast<std::size_t>(count);
    }
    ::sigaction(SIGPIPE, &before, nullptr);
    if (sent < image.pixels.size()) finish();
  }

  void finish() override {
    ::close(input_);
    input_ = -1;
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = 0;
    if (status != 0)
      throw InputError({file_.string(), 0, 0}, "ffmpeg could not write the film; what it said stands above",
                       "an ffmpeg with libx264 (.mp4) or libvpx-vp9 (.webm), and a place to write to");
  }

 private:
  std::string extension() const { return file_.extension().string(); }

  fs::path file_;
  int input_ = -1;
  pid_t child_ = 0;
};

}  // namespace

std::unique_ptr<FilmWriter> make_video_writer(const fs::path& file, int width, int height, double rate) {
  return std::make_unique<VideoWriter>(file, width, height, rate);
}

}  // namespace linkwork
