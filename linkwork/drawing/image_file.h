#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "linkwork/drawing/picture.h"

namespace linkwork {

/// The bytes of a PNG file.
std::string png_bytes(const Image& image);

/// A film that is being written, picture by picture.
class FilmWriter {
 public:
  virtual ~FilmWriter() = default;
  virtual void add(const Image& image) = 0;
  /// Throws InputError or std::system_error if the film cannot be written.
  virtual void finish() = 0;
};

/// A GIF that plays again and again; its 256 colours are chosen from some of its pictures.
std::unique_ptr<FilmWriter> make_gif_writer(const std::filesystem::path& file, std::vector<Image> samples, double rate);
/// MP4 (H.264) or WebM (VP9), made by the program ffmpeg. Throws InputError, with what to do, if it is not there.
std::unique_ptr<FilmWriter> make_video_writer(const std::filesystem::path& file, int width, int height, double rate);

}  // namespace linkwork
