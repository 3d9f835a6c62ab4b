#include "linkwork/drawing/film.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "linkwork/drawing/image_file.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostMoments = 80;  // by which size and plane of the motion are found
constexpr std::size_t kMostPathPoints = 1500;
constexpr long kMostPictures = 100'000;

void check_size(const PictureOptions& options) {
  constexpr int kLeast = 16, kMost = 8192;
  if (std::min(options.width, options.height) < kLeast || std::max(options.width, options.height) > kMost)
    throw InputError({"--size", 0, 0}, fmt::format("{}x{} pixels cannot be drawn", options.width, options.height),
                     fmt::format("{} to {} pixels each way", kLeast, kMost));
}

[[noreturn]] void refuse_name(const fs::path& file, const std::string& expected) {
  throw InputError({file.string(), 0, 0}, fmt::format("'{}' is no format that can be written", file.extension().string()),
                   expected);
}

/// A run as it is drawn.
class Drawing {
 public:
  Drawing(const ReportRun& run, const PictureOptions& options, const Roundness& round)
      : run_(run), options_(options), scene_(read_drawn_scene(run.scene, run.label)) {
    check_size(options);
    if (run.rows.size() == 0) throw InputError({run.label, 0, 0}, "there are no rows to draw", "a run that has begun");
    if (run.rows.columns() != scene_.columns.size())
      throw InputError({run.label, 0, 0}, "the rows have other columns than the scene", "files of one run");
    if (!scene_.is_drawable())
      throw InputError({run.label, 0, 0}, "cannot be drawn: the positions were not written", "a run with the columns q");
    std::vector<std::vector<double>> moments;
    const std::size_t count = std::min(run.rows.size(), kMostMoments);
    for (std::size_t i = 0; i < count; ++i) moments.push_back(row(count < 2 ? 0 : i * (run.rows.size() - 1) / (count - 1)));
    figure_.emplace(scene_, moments, round, options.dark);
    camera_.emplace(figure_->layout(), options.width, options.height);
    if (options.paths && run.rows.size() > 1) find_paths();
  }

  double first() const { return run_.rows.at(0, 0); }
  double last() const { return run_.rows.at(run_.rows.size() - 1, 0); }

  Scenery scenery(double t) const {
    const auto [before, part] = locate(t);
    std::vector<double> now = row(before);
    if (part > 0.0) {
      const std::vector<double> next = row(before + 1);
      for (std::size_t c = 0; c < now.size(); ++c) now[c] += part * (next[c] - now[c]);
    }
    Scenery scenery{figure_->layout(), palette(options_.dark), figure_->at(now), paths_,
                    fmt::format("{}, t = {:.6g} s", scene_.name, t)};
    for (Path& path : scenery.paths) path.past = path.points.size() * (before + 1) / std::max<std::size_t>(run_.rows.size(), 1);
    return scenery;
  }

  Image image(double t) const { return render(scenery(t), *camera_, options_.width, options_.height); }
  std::string svg(double t) const { return svg_text(scenery(t), *camera_, options_.width, options_.height); }

 private:
  std::vector<double> row(std::size_t index) const {
    std::vector<double> values(run_.rows.columns());
    for (std::size_t c = 0; c < values.size(); ++c) values[c] = run_.rows.at(index, c);
    return values;
  }

  /// The last row not after t, and how far t is towards the next.
  std::pair<std::size_t, double> locate(double t) const {
    std::size_t low = 0, high = run_.rows.size() - 1;
    while (low < high) {
      const std::size_t middle = (low + high + 1) / 2;
      if (run_.rows.at(middle, 0) <= t)
        low = middle;
      else
        high = middle - 1;
    }
    if (low + 1 >= run_.rows.size() || t <= run_.rows.at(low, 0)) return {low, 0.0};
    return {low, (t - run_.rows.at(low, 0)) / (run_.rows.at(low + 1, 0) - run_.rows.at(low, 0))};
  }

  /// Of the first sensors; those of flat mechanisms behind the links.
  void find_paths() {
    constexpr std::size_t kMost = 2;
    const ScenePoses poses(scene_);
    paths_.resize(std::min(scene_.sensors.size(), kMost));
    const FigureLayout& layout = figure_->layout();
    const double bodies = static_cast<double>(std::min<std::size_t>(scene_.bodies.size(), 7));
    const std::size_t count = paths_.empty() ? 0 : std::min(run_.rows.size(), kMostPathPoints);
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<Pose<double>> X = poses.at(row(count < 2 ? 0 : i * (run_.rows.size() - 1) / (count - 1)));
      for (std::size_t k = 0; k < paths_.size(); ++k) {
        const DrawnScene::Frame& at = scene_.sensors[k];
        Vec3<double> point = X[at.body] * at.X_BF.p;
        if (layout.normal) point -= 0.55 * bodies * layout.unit * *layout.normal;
        paths_[k].points.push_back(point);
      }
    }
  }

  const ReportRun& run_;
  PictureOptions options_;
  DrawnScene scene_;
  std::optional<Figure> figure_;
  std::optional<Camera> camera_;
  std::vector<Path> paths_;
};

void check_positive(double value, const char* option) {
  if (!(value > 0.0) || !std::isfinite(value)) throw InputError({option, 0, 0}, fmt::format("{} is not positive", value));
}

}  // namespace

void save_picture(const ReportRun& run, const fs::path& file, const PictureOptions& options, std::optional<double> t) {
  const std::string extension = file.extension().string();
  if (extension != ".svg" && extension != ".png") refuse_name(file, "a name that ends in .svg or .png");
  const bool vectors = extension == ".svg";
  const Drawing drawing(run, options, vectors ? Roundness{20, 1} : Roundness{28, 1});
  const double at = std::clamp(t.value_or(drawing.first()), drawing.first(), drawing.last());
  write_text_file(file, vectors ? drawing.svg(at) : png_bytes(drawing.image(at)));
}

FilmSummary save_film(const ReportRun& run, const fs::path& file, const FilmOptions& options) {
  const std::string extension = file.extension().string();
  const bool video = extension == ".mp4" || extension == ".webm";
  if (extension != ".gif" && !video) refuse_name(file, "a name that ends in .gif, .mp4 or .webm");
  check_positive(options.rate, "--rate");
  check_positive(options.speed, "--speed");
  if (extension == ".gif" && options.rate > 50.0)
    throw InputError({"--rate", 0, 0}, "a GIF shows at most 50 pictures per second");
  PictureOptions picture = options.picture;
  picture.width += picture.width % 2;  // encoders want even sizes
  picture.height += picture.height % 2;
  const Drawing drawing(run, picture, {20, 1});
  const double from = std::max(options.from.value_or(drawing.first()), drawing.first());
  const double to = std::min(options.to.value_or(drawing.last()), drawing.last());
  if (!(to >= from))
    throw InputError({"--from", 0, 0}, "there is nothing between the two times",
                     fmt::format("times from {} to {} s", drawing.first(), drawing.last()));
  const double wanted = std::max(1.0, std::round((to - from) / options.speed * options.rate));
  if (wanted > kMostPictures)
    throw InputError({"--speed", 0, 0}, fmt::format("the film would have {:.0f} pictures", wanted),
                     fmt::format("at most {}: a higher speed, a lower rate, or a shorter time", kMostPictures));
  const long count = std::lround(wanted);
  const auto time = [&](long k) { return std::min(to, from + options.speed * static_cast<double>(k) / options.rate); };

  std::unique_ptr<FilmWriter> writer;
  if (video) {
    writer = make_video_writer(file, picture.width, picture.height, options.rate);
  } else {
    std::vector<Image> samples;
    for (const double part : {0.0, 0.33, 0.66, 1.0}) samples.push_back(drawing.image(from + part * (to - from)));
    writer = make_gif_writer(file, std::move(samples), options.rate);
  }
  for (long k = 0; k < count; ++k) {
    writer->add(drawing.image(time(k)));
    if (options.go_on && !options.go_on(static_cast<double>(k + 1) / static_cast<double>(count))) {
      writer.reset();
      std::error_code ignored;
      fs::remove(file, ignored);
      return {};
    }
  }
  writer->finish();
  return {count, static_cast<double>(count) / options.rate};
}

}  // namespace linkwork
