// Level 5 MAT-files, as MATLAB and Octave read them: a header, then an element per variable; an element is a type, a size, and
// data padded to 8 bytes. A struct holds an element per field.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <system_error>

#include "linkwork/io/input_file.h"
#include "linkwork/io/trajectory_format.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little, "numbers are written as they are");

enum Type : std::uint32_t { kInt8 = 1, kUint16 = 4, kInt32 = 5, kUint32 = 6, kDouble = 9, kMatrix = 14 };
enum Class : std::uint32_t { kCell = 1, kStruct = 2, kChar = 4, kDoubles = 6 };
constexpr std::size_t kHeader = 128, kTag = 8, kMostName = 63;

std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

/// A column, or a struct of them.
struct Variable {
  std::string name;
  int column = -1;  // -1: a struct
  std::vector<Variable> fields = {};
  std::vector<std::string> texts = {};  // or a list of them
  bool is_list = false;
};

std::string identifier(std::string_view text) {
  std::string name;
  for (const char c : text)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128 ? c : '_';
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name.front())) == 0) name.insert(0, "x");
  return name.substr(0, kMostName);
}

/// Columns by the dots in their names. Where two would have one place, or a column and a struct, one gets a _ more.
class Layout {
 public:
  explicit Layout(std::span<const ColumnInfo> columns) {
    Variable names = list("columns"), places = list("fields"), units = list("units"), not_unique = list("not_unique");
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto& [name, unit] = columns[c].column;
      names.texts.push_back(name);
      places.texts.push_back(place(name, static_cast<int>(c)));
      units.texts.push_back(unit);
      if (!columns[c].unique) not_unique.texts.push_back(name);
    }
    for (Variable& variable : std::array{names, places, units, not_unique}) top.push_back(std::move(variable));
  }

  std::vector<Variable> top;

 private:
  static Variable list(const char* name) { return {name, -1, {}, {}, true}; }

  std::string place(std::string_view name, int column) {
    std::vector<Variable>* at = &top;
    std::string path;
    for (;;) {
      const std::size_t dot = name.find('.');
      const bool last = dot == std::string_view::npos;
      std::string field = identifier(name.substr(0, dot));
      auto found = std::ranges::find(*at, field, &Variable::name);
      while (found != at->end() && (last || found->column >= 0)) {
        if (field.size() == kMostName) field.pop_back();
        field += '_';
        found = std::ranges::find(*at, field, &Variable::name);
      }
      if (found == at->end()) found = at->insert(at->end(), Variable{field, last ? column : -1});
      path += field;
      if (last) return path;
      path += '.';
      at = &found->fields;
      name.remove_prefix(dot + 1);
    }
  }
};

std::u16string utf16(const std::string& text) {
  std::u16string wide;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const int more = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : 0;
    std::uint32_t code = more == 0 ? byte : byte & (0x3FU >> static_cast<unsigned>(more));
    for (int k = 1; k <= more && i + static_cast<std::size_t>(k) < text.size(); ++k)
      code = code << 6U | (static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]) & 0x3FU);
    i += static_cast<std::size_t>(more) + 1;
    if (code >= 0x10000) {
      wide += static_cast<char16_t>(0xD800U + ((code - 0x10000U) >> 10U));
      wide += static_cast<char16_t>(0xDC00U + ((code - 0x10000U) & 0x3FFU));
    } else {
      wide += static_cast<char16_t>(code);
    }
  }
  return wide;
}

std::string utf8(const char16_t* text, std::size_t count) {
  std::string narrow;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t code = text[i];
    if (code >= 0xD800 && code < 0xDC00 && i + 1 < count) code = 0x10000U + ((code - 0xD800U) << 10U) + (text[++i] - 0xDC00U);
    const auto add = [&](std::uint32_t byte) { narrow += static_cast<char>(byte); };
    if (code < 0x80)
      add(code);
    else if (code < 0x800)
      add(0xC0U | code >> 6U), add(0x80U | (code & 0x3FU));
    else if (code < 0x10000)
      add(0xE0U | code >> 12U), add(0x80U | (code >> 6U & 0x3FU)), add(0x80U | (code & 0x3FU));
    else
      add(0xF0U | code >> 18U), add(0x80U | (code >> 12U & 0x3FU)), add(0x80U | (code >> 6U & 0x3FU)),
          add(0x80U | (code & 0x3FU));
  }
  return narrow;
}

class MatWriter : public TrajectoryWriter {
 public:
  MatWriter(fs::path file, std::span<const ColumnInfo> columns, std::size_t rows)
      : path_(std::move(file)), stream_(std::fopen(path_.c_str(), "wb"), &std::fclose), rows_(rows), data_(columns.size()) {
    if (!stream_) fail();
    std::string header = "MATLAB 5.0 MAT-file, written by Linkwork";
    header.resize(kHeader - 4, ' ');
    header += std::string("\0\x01IM", 4);
    put(header.data(), header.size());
    for (const Variable& variable : Layout(columns).top) put(variable, variable.name);
    if (std::fflush(stream_.get()) != 0) fail();
  }

  void write(std::size_t first_row, std::size_t count, std::span<const double> values) override {
    for (std::size_t c = 0; c < data_.size(); ++c) {
      if (::fseeko(stream_.get(), static_cast<off_t>(data_[c] + first_row * sizeof(double)), SEEK_SET) != 0) fail();
      put(values.data() + c * count, count * sizeof(double));
    }
  }

  void close() override {
    if (std::fclose(stream_.release()) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const { throw std::system_error(errno, std::generic_category(), path_.string()); }

  void put(const void* bytes, std::size_t count) {
    if (std::fwrite(bytes, 1, count, stream_.get()) != count) fail();
    at_ += count;
  }
  void put_tag(Type type, std::size_t size) {
    const std::array<std::uint32_t, 2> tag{type, static_cast<std::uint32_t>(size)};
    put(tag.data(), sizeof tag);
  }
  void put_padded(Type type, const void* bytes, std::size_t count) {
    constexpr std::array<char, 8> kZeros{};
    put_tag(type, count);
    put(bytes, count);
    put(kZeros.data(), padded(count) - count);
  }
  /// Flags, dimensions, name.
  void put_head(Class kind, std::size_t rows, std::size_t columns, const std::string& name) {
    const std::array<std::uint32_t, 2> flags{kind, 0};
    put_padded(kUint32, flags.data(), sizeof flags);
    const std::array<std::int32_t, 2> dimensions{static_cast<std::int32_t>(rows), static_cast<std::int32_t>(columns)};
    put_padded(kInt32, dimensions.data(), sizeof dimensions);
    put_padded(kInt8, name.data(), name.size());
  }
  static std::size_t head_size(const std::string& name) { return 2 * (kTag + 8) + kTag + padded(name.size()); }

  /// Without its own tag.
  std::size_t size_of(const Variable& variable, const std::string& name) const {
    std::size_t size = head_size(name);
    if (variable.is_list) {
      for (const std::string& text : variable.texts) size += kTag + text_size(text);
    } else if (variable.column >= 0) {
      size += kTag + rows_ * sizeof(double);
    } else {
      size += 8 + kTag + padded(variable.fields.size() * (kMostName + 1));
      for (const Variable& field : variable.fields) size += kTag + size_of(field, "");
    }
    return size;
  }
  static std::size_t text_size(const std::string& text) { return head_size("") + kTag + padded(2 * utf16(text).size()); }

  void put(const Variable& variable, const std::string& name) {
    put_tag(kMatrix, size_of(variable, name));
    if (variable.is_list) {
      put_head(kCell, variable.texts.size(), 1, name);
      for (const std::string& text : variable.texts) put_text(text);
    } else if (variable.column >= 0) {
      put_head(kDoubles, rows_, 1, name);
      put_tag(kDouble, rows_ * sizeof(double));
      data_[static_cast<std::size_t>(variable.column)] = at_;
      at_ += rows_ * sizeof(double);
      if (::fseeko(stream_.get(), static_cast<off_t>(at_), SEEK_SET) != 0) fail();
    } else {
      put_head(kStruct, 1, 1, name);
      const std::array<std::uint32_t, 2> name_length{4U << 16U | kInt32, kMostName + 1};
      put(name_length.data(), sizeof name_length);
      std::string names;
      for (const Variable& field : variable.fields) {
        std::string one = field.name;
        one.resize(kMostName + 1, '\0');
        names += one;
      }
      put_padded(kInt8, names.data(), names.size());
      for (const Variable& field : variable.fields) put(field, "");
    }
  }

  void put_text(const std::string& text) {
    const std::u16string wide = utf16(text);
    put_tag(kMatrix, text_size(text));
    put_head(kChar, wide.empty() ? 0 : 1, wide.size(), "");
    put_padded(kUint16, wide.data(), 2 * wide.size());
  }

  fs::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream_;
  std::size_t rows_;
  std::size_t at_ = 0;
  std::vector<std::size_t> data_;  // by column: where its numbers begin
};

/// What a file that we wrote says.
class MatReader {
 public:
  explicit MatReader(const fs::path& file) : file_(file.string()) {
    check_input_file(file, "the trajectory of a run");
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file_.c_str(), "rb"), &std::fclose);
    std::array<char, 1U << 16U> block;
    while (stream) {
      const std::size_t count = std::fread(block.data(), 1, block.size(), stream.get());
      if (count == 0) break;
      bytes_.append(block.data(), count);
    }
    if (bytes_.size() < kHeader || bytes_.compare(kHeader - 2, 2, "IM") != 0) refuse();
    for (std::size_t at = kHeader; at < bytes_.size();) read_matrix(at, "");
  }

  TrajectoryTable table() const {
    const auto columns = lists_.find("columns"), fields = lists_.find("fields");
    if (columns == lists_.end() || fields == lists_.end() || columns->second.size() != fields->second.size()) refuse();
    TrajectoryTable table{columns->second, {}};
    for (const std::string& field : fields->second) {
      const auto values = numbers_.find(field);
      if (values == numbers_.end()) refuse();
      table.values.push_back(values->second);
      if (table.values.back().size() != table.values.front().size()) refuse();
    }
    if (table.columns.empty()) refuse();
    return table;
  }

 private:
  [[noreturn]] void refuse() const {
    throw InputError({file_, 0, 0}, "is not the trajectory of a run", "a file of 'linkwork run'");
  }

  struct Element {
    std::uint32_t type = 0;
    std::string_view data;
  };
  Element read_element(std::size_t& at) const {
    std::array<std::uint32_t, 2> tag{};
    if (at + kTag > bytes_.size()) refuse();
    std::memcpy(tag.data(), bytes_.data() + at, sizeof tag);
    if ((tag[0] >> 16U) != 0) {  // small: type and size in four bytes, data in the other four
      const Element small{tag[0] & 0xFFFFU, std::string_view(bytes_).substr(at + 4, std::min<std::size_t>(tag[0] >> 16U, 4))};
      at += kTag;
      return small;
    }
    at += kTag;
    if (tag[1] > bytes_.size() - at) refuse();
    const Element element{tag[0], std::string_view(bytes_).substr(at, tag[1])};
    at = std::min(bytes_.size(), at + padded(tag[1]));
    return element;
  }

  /// Texts of cells go to `texts`, if it is given.
  void read_matrix(std::size_t& at, const std::string& path, std::vector<std::string>* texts = nullptr, int depth = 0) {
    constexpr int kDeepest = 64;
    const Element matrix = read_element(at);
    if (matrix.type != kMatrix || depth > kDeepest) refuse();
    std::size_t inside = static_cast<std::size_t>(matrix.data.data() - bytes_.data());
    const std::size_t end = inside + matrix.data.size();
    const Element flags = read_element(inside);
    read_element(inside);  // dimensions
    const std::string own(read_element(inside).data);
    if (flags.data.size() < 4) refuse();
    const auto kind = static_cast<unsigned char>(flags.data.front());
    const std::string name = own.empty() ? path : own;
    if (kind == kDoubles) {
      const Element data = read_element(inside);
      if (data.type != kDouble) refuse();
      std::vector<double>& values = numbers_[name];
      values.resize(data.data.size() / sizeof(double));
      if (!values.empty()) std::memcpy(values.data(), data.data.data(), values.size() * sizeof(double));
    } else if (kind == kChar && texts != nullptr) {
      const Element data = read_element(inside);
      std::u16string wide(data.data.size() / 2, u'\0');
      if (!wide.empty()) std::memcpy(wide.data(), data.data.data(), 2 * wide.size());
      texts->push_back(utf8(wide.data(), wide.size()));
    } else if (kind == kCell) {
      while (inside < end) read_matrix(inside, "", &lists_[name], depth + 1);
    } else if (kind == kStruct) {
      const Element length = read_element(inside);
      std::int32_t one = 0;
      if (length.data.size() != sizeof one) refuse();
      std::memcpy(&one, length.data.data(), sizeof one);
      const Element names = read_element(inside);
      if (one < 1) refuse();
      for (std::size_t k = 0; k + static_cast<std::size_t>(one) <= names.data.size(); k += static_cast<std::size_t>(one)) {
        const std::string_view field = names.data.substr(k, static_cast<std::size_t>(one));
        read_matrix(inside, fmt::format("{}.{}", name, field.substr(0, field.find('\0'))), nullptr, depth + 1);
      }
    }
  }

  std::string file_, bytes_;
  std::map<std::string, std::vector<double>> numbers_;
  std::map<std::string, std::vector<std::string>> lists_;
};

}  // namespace

std::unique_ptr<TrajectoryWriter> make_mat_writer(const fs::path& file, std::span<const ColumnInfo> columns, std::size_t rows) {
  return std::make_unique<MatWriter>(file, columns, rows);
}

TrajectoryTable read_mat_trajectory(const fs::path& file) { return MatReader(file).table(); }

}  // namespace linkwork
