#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "linkwork/drawing/image_file.h"
#include "linkwork/io/page.h"

namespace linkwork {
namespace {

constexpr std::size_t kCells = 1U << 15U;  // colours by 5 bits each
constexpr std::size_t kColors = 255;

std::size_t cell_of(const std::uint8_t* pixel) {
  return static_cast<std::size_t>(pixel[0] >> 3U) << 10U | static_cast<std::size_t>(pixel[1] >> 3U) << 5U | pixel[2] >> 3U;
}
int part_of(std::size_t cell, std::size_t axis) { return static_cast<int>(cell >> (10U - 5U * axis) & 31U); }

/// 255 colours for pictures, by cutting the box of largest spread at its median (Heckbert 1982).
class ColorTable {
 public:
  explicit ColorTable(const std::vector<Image>& samples) : counts_(kCells, 0) {
    for (const Image& image : samples)
      for (std::size_t i = 0; i + 2 < image.pixels.size(); i += 3) ++counts_[cell_of(&image.pixels[i])];
    std::vector<std::size_t> used;
    for (std::size_t cell = 0; cell < kCells; ++cell)
      if (counts_[cell] > 0) used.push_back(cell);
    std::vector<Box> boxes{boxed(std::move(used))};
    while (boxes.size() < kColors) {
      const auto widest = std::ranges::max_element(boxes, {}, &Box::spread);
      if (!(widest->spread > 0.0)) break;
      Box box = std::move(*widest);
      std::ranges::stable_sort(box.cells, {}, [&](std::size_t cell) { return part_of(cell, box.axis); });
      std::size_t cut = 0;
      for (std::uint64_t seen = 0; cut + 1 < box.cells.size(); ++cut)
        if ((seen += counts_[box.cells[cut]]) * 2 >= box.count) break;
      cut = std::clamp<std::size_t>(cut, 1, box.cells.size() - 1);
      const auto middle = box.cells.begin() + static_cast<std::ptrdiff_t>(cut);
      *widest = boxed({box.cells.begin(), middle});
      boxes.push_back(boxed({middle, box.cells.end()}));
    }
    for (const Box& box : boxes) add_color(box);
    find_nearest();
  }

  const std::array<std::uint8_t, 768>& colors() const { return colors_; }
  std::uint8_t index(const std::uint8_t* pixel) const { return nearest_[cell_of(pixel)]; }

 private:
  struct Box {
    std::vector<std::size_t> cells;
    std::uint64_t count = 0;
    std::size_t axis = 0;
    double spread = 0.0;
  };

  Box boxed(std::vector<std::size_t> cells) const {
    Box box{std::move(cells)};
    std::array<int, 3> low{31, 31, 31}, high{0, 0, 0};
    for (const std::size_t cell : box.cells) {
      box.count += counts_[cell];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], part_of(cell, axis));
        high[axis] = std::max(high[axis], part_of(cell, axis));
      }
    }
    for (std::size_t axis = 1; axis < 3; ++axis)
      if (high[axis] - low[axis] > high[box.axis] - low[box.axis]) box.axis = axis;
    box.spread = (high[box.axis] - low[box.axis]) * std::sqrt(static_cast<double>(box.count));
    return box;
  }

  void add_color(const Box& box) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::uint64_t sum = 0;
      for (const std::size_t cell : box.cells) sum += static_cast<std::uint64_t>(8 * part_of(cell, axis) + 4) * counts_[cell];
      colors_[3 * count_ + axis] = box.count == 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(sum / box.count);
    }
    ++count_;
  }

  void find_nearest() {
    for (std::size_t cell = 0; cell < kCells; ++cell) {
      int best = std::numeric_limits<int>::max();
      for (std::size_t k = 0; k < count_; ++k) {
        int distance = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const int away = colors_[3 * k + axis] - (8 * part_of(cell, axis) + 4);
          distance += away * away;
        }
        if (distance >= best) continue;
        best = distance;
        nearest_[cell] = static_cast<std::uint8_t>(k);
      }
    }
  }

  std::vector<std::uint64_t> counts_;
  std::array<std::uint8_t, 768> colors_{};
  std::array<std::uint8_t, kCells> nearest_{};
  std::size_t count_ = 0;
};

/// Codes of variable length (Lempel, Ziv, Welch) for indices of 8 bits, in blocks of at most 255 bytes.
class Compression {
 public:
  explicit Compression(std::string& bytes) : bytes_(bytes), next_of_(kMost * 256) {}

  void add(const std::vector<std::uint8_t>& indices) {
    bytes_ += '\x08';
    begin();
    put(kClear);
    std::uint32_t prefix = indices.front();
    for (std::size_t i = 1; i < indices.size(); ++i) {
      std::uint16_t& next = next_of_[prefix * 256 + indices[i]];
      if (next != 0) {
        prefix = next;
        continue;
      }
      put(prefix);
      if (free_ == kMost) {
        put(kClear);
        begin();
      } else {
        if (free_ == 1U << width_) ++width_;
        next = static_cast<std::uint16_t>(free_++);
      }
      prefix = indices[i];
    }
    put(prefix);
    put(kEnd);
    if (held_ > 0) block_ += static_cast<char>(bits_ & 255U);
    if (!block_.empty()) flush();
    bytes_ += '\0';
  }

 private:
  static constexpr std::uint32_t kClear = 256, kEnd = 257, kMost = 4096;

  void begin() {
    std::ranges::fill(next_of_, std::uint16_t{0});
    free_ = 258;
    width_ = 9;
  }

  void put(std::uint32_t code) {
    bits_ |= code << held_;
    held_ += width_;
    for (; held_ >= 8; held_ -= 8, bits_ >>= 8U) {
      block_ += static_cast<char>(bits_ & 255U);
      if (block_.size() == 255) flush();
    }
  }

  void flush() {
    bytes_ += static_cast<char>(block_.size());
    bytes_ += block_;
    block_.clear();
  }

  std::string& bytes_;
  std::vector<std::uint16_t> next_of_;  // by prefix and index
  std::string block_;
  std::uint32_t bits_ = 0, held_ = 0, width_ = 9, free_ = 258;
};

class GifWriter : public FilmWriter {
 public:
  GifWriter(std::filesystem::path file, const std::vector<Image>& samples, double rate)
      : file_(std::move(file)),
        width_(samples.front().width),
        height_(samples.front().height),
        hundredths_(std::max(2L, std::lround(100.0 / rate))),
        table_(samples) {
    bytes_ = "GIF89a";
    add_word(width_);
    add_word(height_);
    bytes_ += std::string("\xf7\0\0", 3);  // a table of 256 colours
    for (const std::uint8_t value : table_.colors()) bytes_ += static_cast<char>(value);
    bytes_ += std::string("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 19);  // again and again
  }

  /// Only the rectangle that has changed is stored.
  void add(const Image& image) override {
    std::vector<std::uint8_t> now(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
    for (std::size_t i = 0; i < now.size(); ++i) now[i] = table_.index(&image.pixels[3 * i]);
    int left = 0, top = 0, right = width_ - 1, bottom = height_ - 1;
    if (!last_.empty()) {
      left = width_, top = height_, right = bottom = -1;
      for (int y = 0; y < height_; ++y)
        for (int x = 0; x < width_; ++x) {
          if (now[place(x, y)] == last_[place(x, y)]) continue;
          left = std::min(left, x);
          right = std::max(right, x);
          top = std::min(top, y);
          bottom = y;
        }
      if (right < 0) left = top = right = bottom = 0;
    }
    std::vector<std::uint8_t> part;
    for (int y = top; y <= bottom; ++y)
      part.insert(part.end(), now.begin() + static_cast<std::ptrdiff_t>(place(left, y)),
                  now.begin() + static_cast<std::ptrdiff_t>(place(right, y)) + 1);
    bytes_ += std::string("\x21\xf9\x04\x04", 4);
    add_word(static_cast<int>(hundredths_));
    bytes_ += std::string("\0\0\x2c", 3);
    for (const int value : {left, top, right - left + 1, bottom - top + 1}) add_word(value);
    bytes_ += '\0';
    Compression(bytes_).add(part);
    last_ = std::move(now);
  }

  void finish() override {
    bytes_ += '\x3b';
    write_text_file(file_, bytes_);
  }

 private:
  std::size_t place(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }
  void add_word(int value) {
    bytes_ += static_cast<char>(value & 255);
    bytes_ += static_cast<char>(value >> 8 & 255);
  }

  std::filesystem::path file_;
  int width_, height_;
  long hundredths_;  // of a second that a picture is shown
  ColorTable table_;
  std::string bytes_;
  std::vector<std::uint8_t> last_;
};

}  // namespace

std::unique_ptr<FilmWriter> make_gif_writer(const std::filesystem::path& file, std::vector<Image> samples, double rate) {
  return std::make_unique<GifWriter>(file, samples, rate);
}

}  // namespace linkwork
