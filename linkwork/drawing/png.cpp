#include <zlib.h>

#include <array>
#include <stdexcept>

#include "linkwork/drawing/image_file.h"

namespace linkwork {
namespace {

void add_number(std::string& bytes, std::uint32_t value) {
  for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(value >> shift & 255U);
}

void add_chunk(std::string& png, const std::string& name, const std::string& data) {
  add_number(png, static_cast<std::uint32_t>(data.size()));
  const std::string checked = name + data;
  png += checked;
  add_number(png, static_cast<std::uint32_t>(
                      crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()))));
}

}  // namespace

std::string png_bytes(const Image& image) {
  const std::size_t stride = 3 * static_cast<std::size_t>(image.width);
  std::string rows;
  rows.reserve((stride + 1) * static_cast<std::size_t>(image.height));
  for (std::size_t y = 0; y < static_cast<std::size_t>(image.height); ++y) {
    rows += '\1';  // every byte is the difference to the pixel on its left
    for (std::size_t x = 0; x < stride; ++x) {
      const std::uint8_t left = x < 3 ? std::uint8_t{0} : image.pixels[y * stride + x - 3];
      rows += static_cast<char>(static_cast<std::uint8_t>(image.pixels[y * stride + x] - left));
    }
  }
  std::string packed(compressBound(static_cast<uLong>(rows.size())), '\0');
  uLongf size = static_cast<uLongf>(packed.size());
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                static_cast<uLong>(rows.size()), Z_BEST_COMPRESSION) != Z_OK)
    throw std::runtime_error("the picture could not be compressed");
  packed.resize(size);
  std::string head;
  add_number(head, static_cast<std::uint32_t>(image.width));
  add_number(head, static_cast<std::uint32_t>(image.height));
  head += std::string("\x08\x02\x00\x00\x00", 5);  // 8 bits, red green blue
  std::string png("\x89PNG\r\n\x1a\n", 8);
  add_chunk(png, "IHDR", head);
  add_chunk(png, "IDAT", packed);
  add_chunk(png, "IEND", "");
  return png;
}

}  // namespace linkwork
