#include "linkwork/drawing/film.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <pugixml.hpp>
#include <sstream>

#include "linkwork/drawing/drawn_scene.h"
#include "linkwork/drawing/image_file.h"
#include "linkwork/drawing/surface.h"
#include "linkwork/io/model_file.h"
#include "linkwork/io/scene.h"
#include "linkwork/model/input_error.h"
#include "linkwork/modules/model_run.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;
using Point = Vec3<double>;

struct RunToDraw {
  ReportRun run;
  KeptRun kept;
};

RunToDraw run_of(const fs::path& file, double end) {
  Spec spec = read_model_file(test::source_dir() / file);
  spec.settings.end = end;
  KeptRun kept = run_model(spec);
  ThinnedRows rows(kept.columns.size());
  for (const std::vector<double>& row : kept.rows) rows.add(row);
  return {{spec.name, scene_json(spec, build_model(spec), kept.columns), "", std::move(rows)}, std::move(kept)};
}

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

class Drawings : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  const fs::path folder_ = fs::temp_directory_path() /
                           ("linkwork_drawing_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST(DrawnScene, PutsBodiesOfAllJointTypesWhereTheRunHasThem) {
  const auto [run, kept] = run_of("tests/browser/all_joints.toml", 0.1);
  const DrawnScene scene = read_drawn_scene(run.scene, "scene");
  const ScenePoses poses(scene);
  int compared = 0;
  for (const std::vector<double>& row : kept.rows) {
    const std::vector<Pose<double>> X = poses.at(row);
    for (std::size_t body = 1; body < scene.bodies.size(); ++body) {
      const std::string& name = scene.bodies[body].name;
      const auto column = [&row, &name, &kept = kept](const std::string& part) {
        const auto found = std::ranges::find(kept.columns, "x." + name + "." + part);
        return found == kept.columns.end() ? std::nan("") : row[static_cast<std::size_t>(found - kept.columns.begin())];
      };
      if (std::isnan(column("x"))) continue;
      ++compared;
      EXPECT_LT((X[body].p - Point(column("x"), column("y"), column("z"))).norm(), 1e-12) << name;
      const Eigen::Quaterniond turn(column("qw"), column("qx"), column("qy"), column("qz"));
      EXPECT_LT((X[body].R - turn.toRotationMatrix()).norm(), 1e-12) << name;
    }
  }
  EXPECT_GE(compared, 30);
}

TEST(DrawnScene, RefusesWhatIsNone) {
  for (const char* const text : {"", "{}", "[1]", R"({"name":"a","settings":{"gravity":[0,0]},"columns":[],"bodies":[]})",
                                 R"({"name":"a","settings":{"gravity":[0,0,0]},"columns":["t"],"bodies":[{"name":"ground"}],
                                     "joints":[{"name":"j","type":"revolute","cut":false,"pitch":0,
                                                "parent":{"body":7,"p":[0,0,0],"q":[1,0,0,0]},
                                                "child":{"body":0,"p":[0,0,0],"q":[1,0,0,0]},"q":[0]}],
                                     "closures":[],"springs":[],"sensors":[]})"})
    EXPECT_THROW(read_drawn_scene(text, "scene.json"), InputError) << text;
}

/// The volume that faces enclose, by the divergence theorem: it is right only if all are turned outwards and none is missing.
double volume(const Surface& surface) {
  double sum = 0.0;
  for (const Surface::Face& face : surface.faces)
    for (std::size_t i = 1; i + 1 < face.size(); ++i) sum += face[0].p.dot(face[i].p.cross(face[i + 1].p)) / 6.0;
  return sum;
}

TEST(Surface, ShapesAreClosedAndTurnedOutwards) {
  using std::numbers::pi;
  const Roundness fine{400, 3};
  const Point a(0.3, -0.2, 0.5), b(1.3, 0.4, -0.6);
  const double length = (b - a).norm();
  EXPECT_NEAR(volume(box(a, {1.0, 2.0, 3.0})), 6.0, 1e-12);
  EXPECT_NEAR(volume(tube(a, b, 0.2, fine)), pi * 0.04 * length, 1e-4);
  EXPECT_NEAR(volume(cone(a, b, 0.3, 0.1, fine)), pi * length / 3.0 * (0.09 + 0.03 + 0.01), 1e-4);
  EXPECT_NEAR(volume(ball(a, 0.7, fine)), 4.0 / 3.0 * pi * 0.343, 1e-3);
  EXPECT_NEAR(volume(ball(a, 1.0, fine).scaled({1.0, 2.0, -0.5})), 4.0 / 3.0 * pi, 1e-3);
  EXPECT_NEAR(volume(ring(2.0, 0.1, 0.3, fine)), 2.0 * pi * pi * 2.0 * 0.01, 1e-3);
  const Point normal(1.0, 2.0, 2.0);
  const Point side = normal.cross(Point::UnitX()).normalized();
  EXPECT_NEAR(volume(plate({a, a + 3.0 * side}, normal, 0.5, 0.2, 0.7, fine)), (3.0 * 1.0 + pi * 0.25) * 0.2, 1e-3);
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < 4; ++k) value = value << 8U | static_cast<std::uint8_t>(bytes.at(at + k));
  return value;
}

TEST(Png, HoldsThePixels) {
  Image image{5, 3, {}};
  for (int i = 0; i < 45; ++i) image.pixels.push_back(static_cast<std::uint8_t>(i * 37));
  const std::string png = png_bytes(image);
  EXPECT_EQ(png.substr(1, 3), "PNG");
  EXPECT_EQ(number_at(png, 16), 5u);
  EXPECT_EQ(number_at(png, 20), 3u);
  const std::uint32_t length = number_at(png, 33);
  EXPECT_EQ(png.substr(37, 4), "IDAT");
  const auto* const data = reinterpret_cast<const Bytef*>(png.data());
  EXPECT_EQ(number_at(png, 41 + length), crc32(0, data + 37, length + 4));
  std::string rows(3 * 16, '\0');
  uLongf size = rows.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size, data + 41, length), Z_OK);
  ASSERT_EQ(size, rows.size());
  for (std::size_t y = 0; y < 3; ++y) {
    ASSERT_EQ(rows[16 * y], 1);
    for (std::size_t x = 0; x < 15; ++x) {
      const std::uint8_t left = x < 3 ? 0 : image.pixels[15 * y + x - 3];
      EXPECT_EQ(static_cast<std::uint8_t>(static_cast<std::uint8_t>(rows[16 * y + 1 + x]) + left), image.pixels[15 * y + x]);
    }
  }
}

/// A reader of GIF files, by the specification: pictures as they are seen, RGB.
class GifReader {
 public:
  explicit GifReader(std::string bytes) : bytes_(std::move(bytes)) {
    EXPECT_EQ(bytes_.substr(0, 6), "GIF89a");
    at_ = 6;
    width_ = word();
    height_ = word();
    const unsigned flags = byte();
    at_ += 2;
    table_ = at_;
    at_ += 3 * (2U << (flags & 7U));
    std::vector<std::uint8_t> canvas(3 * width_ * height_);
    for (unsigned kind = byte(); kind != 0x3b; kind = byte()) {
      if (kind == 0x21) {
        const unsigned label = byte();
        if (label == 0xf9) hundredths = static_cast<std::uint8_t>(bytes_.at(at_ + 2));
        for (unsigned size = byte(); size > 0; size = byte()) at_ += size;
        continue;
      }
      EXPECT_EQ(kind, 0x2cu);
      const std::size_t left = word(), top = word(), width = word(), height = word();
      ++at_;
      const std::vector<std::uint8_t> indices = unpacked();
      EXPECT_EQ(indices.size(), width * height);
      for (std::size_t i = 0; i < indices.size(); ++i)
        for (std::size_t k = 0; k < 3; ++k)
          canvas.at(3 * ((top + i / width) * width_ + left + i % width) + k) =
              static_cast<std::uint8_t>(bytes_.at(table_ + 3U * indices[i] + k));
      pictures.push_back(canvas);
    }
    EXPECT_EQ(at_, bytes_.size());
  }

  std::vector<std::vector<std::uint8_t>> pictures;
  int hundredths = 0;

 private:
  unsigned byte() { return static_cast<std::uint8_t>(bytes_.at(at_++)); }
  std::size_t word() {
    const unsigned low = byte();
    return low + 256U * byte();
  }

  std::vector<std::uint8_t> unpacked() {
    const unsigned least = byte();
    std::string data;
    for (unsigned size = byte(); size > 0; size = byte()) {
      data += bytes_.substr(at_, size);
      at_ += size;
    }
    std::vector<std::uint8_t> result;
    std::vector<std::vector<std::uint8_t>> table;
    unsigned width = least + 1;
    const auto clear = [&] {
      table.assign((1U << least) + 2, {});
      for (unsigned k = 0; k < 1U << least; ++k) table[k] = {static_cast<std::uint8_t>(k)};
      width = least + 1;
    };
    clear();
    std::vector<std::uint8_t> last;
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char c : data) {
      bits |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(c)) << held;
      held += 8;
      while (held >= width) {
        const std::uint32_t code = bits & ((1U << width) - 1);
        bits >>= width;
        held -= width;
        if (code == 1U << least) {
          clear();
          last.clear();
          continue;
        }
        if (code == (1U << least) + 1) return result;
        EXPECT_LE(code, table.size());
        std::vector<std::uint8_t> entry = code < table.size() ? table[code] : last;
        if (code >= table.size()) entry.push_back(last.front());
        result.insert(result.end(), entry.begin(), entry.end());
        if (!last.empty() && table.size() < 4096) {
          last.push_back(entry.front());
          table.push_back(last);
          if (table.size() == 1U << width && width < 12) ++width;
        }
        last = std::move(entry);
      }
    }
    ADD_FAILURE() << "the picture does not end";
    return result;
  }

  std::string bytes_;
  std::size_t at_ = 0, table_ = 0, width_ = 0, height_ = 0;
};

TEST_F(Drawings, GifShowsEveryPictureAsItWas) {
  // Few colours that are told apart by five bits: then nothing is lost. Noise, so that the table of codes is cleared on the way.
  std::vector<Image> images;
  std::uint32_t random = 1;
  for (int frame = 0; frame < 4; ++frame) {
    Image image{97, 83, {}};
    for (int i = 0; i < 97 * 83; ++i) {
      random = random * 1664525U + 1013904223U;
      const auto level = static_cast<std::uint8_t>(frame == 3 ? 4 : 8 * (random >> 28U) + 4);
      for (int k = 0; k < 3; ++k) image.pixels.push_back(level);
    }
    images.push_back(std::move(image));
  }
  const auto writer = make_gif_writer(folder_ / "noise.gif", images, 12.5);
  for (const Image& image : images) writer->add(image);
  writer->add(images.back());
  writer->finish();
  const GifReader gif(bytes_of(folder_ / "noise.gif"));
  EXPECT_EQ(gif.hundredths, 8);
  ASSERT_EQ(gif.pictures.size(), 5u);
  for (std::size_t frame = 0; frame < 5; ++frame) EXPECT_EQ(gif.pictures[frame], images[std::min<std::size_t>(frame, 3)].pixels);
}

TEST_F(Drawings, FilmShowsTheMotion) {
  const ReportRun run = run_of("models/four_bar.toml", 0.5).run;
  FilmOptions options;
  options.picture.width = 160;
  options.picture.height = 121;  // made even
  options.rate = 10.0;
  const FilmSummary made = save_film(run, folder_ / "four_bar.gif", options);
  EXPECT_EQ(made.pictures, 5);
  EXPECT_NEAR(made.seconds, 0.5, 1e-12);
  const GifReader gif(bytes_of(folder_ / "four_bar.gif"));
  ASSERT_EQ(gif.pictures.size(), 5u);
  EXPECT_EQ(gif.pictures[0].size(), 3u * 160 * 122);
  for (std::size_t k = 1; k < 5; ++k) EXPECT_NE(gif.pictures[k], gif.pictures[k - 1]);
}

TEST_F(Drawings, VectorPicturesAreXmlWhateverTheNames) {
  for (const char* const model : {"tests/browser/hostile.toml", "models/stewart.toml", "models/slider_crank.toml"}) {
    const ReportRun run = run_of(model, 0.02).run;
    save_picture(run, folder_ / "picture.svg", {640, 480});
    pugi::xml_document document;
    ASSERT_TRUE(document.load_file((folder_ / "picture.svg").c_str())) << model;
    const pugi::xml_node svg = document.child("svg");
    EXPECT_STREQ(svg.attribute("viewBox").value(), "0 0 640 480");
    EXPECT_TRUE(svg.child("img").empty());
    const pugi::xml_node faces = svg.child("g");
    EXPECT_GT(std::distance(faces.children("path").begin(), faces.children("path").end()), 10) << model;
  }
}

TEST_F(Drawings, PictureHasTheLinksWhereTheyAre) {
  // A flat mechanism is seen from the front: a link's colour is in the middle of the link, as the camera projects it.
  const auto [run, kept] = run_of("models/four_bar.toml", 0.3);
  const DrawnScene scene = read_drawn_scene(run.scene, "scene");
  const Figure figure(scene, kept.rows, {24, 1}, false);
  const Camera camera(figure.layout(), 640, 480);
  ASSERT_TRUE(figure.layout().normal.has_value());
  const Scenery scenery{figure.layout(), palette(false), figure.at(kept.rows.back()), {}, ""};
  const Image image = render(scenery, camera, 640, 480);
  const std::vector<Pose<double>> X = ScenePoses(scene).at(kept.rows.back());
  const auto color_at = [&](std::size_t body, const Point& p) {
    const Point pixel = camera.project(X[body] * p);
    const auto at = 3 * (static_cast<std::size_t>(pixel.y()) * 640 + static_cast<std::size_t>(pixel.x()));
    return std::array{image.pixels.at(at), image.pixels.at(at + 1), image.pixels.at(at + 2)};
  };
  const auto crank = color_at(1, {0.5, 0, 0}), coupler = color_at(2, {2, 0, 0}), rocker = color_at(3, {1.25, 0, 0});
  EXPECT_GT(crank[2], crank[0]);      // blue
  EXPECT_GT(coupler[0], coupler[2]);  // orange
  EXPECT_GT(rocker[1], rocker[0]);    // green
}

TEST_F(Drawings, WhatCannotBeDrawnIsSaid) {
  const ReportRun run = run_of("models/pendulum.toml", 0.02).run;
  EXPECT_THROW(save_picture(run, folder_ / "picture.jpg"), InputError);
  EXPECT_THROW(save_picture(run, folder_ / "picture.png", {0, 480}), InputError);
  EXPECT_THROW(save_picture(run, folder_ / "picture.png", {100000, 480}), InputError);
  EXPECT_THROW(save_film(run, folder_ / "film.avi"), InputError);
  FilmOptions options;
  options.from = 5.0;
  EXPECT_THROW(save_film(run, folder_ / "film.gif", options), InputError);
  options = {};
  options.speed = 1e-12;
  EXPECT_THROW(save_film(run, folder_ / "film.gif", options), InputError);
  const ReportRun empty{run.label, run.scene, "", ThinnedRows(run.rows.columns())};
  EXPECT_THROW(save_picture(empty, folder_ / "picture.png"), InputError);
}

}  // namespace
}  // namespace linkwork
