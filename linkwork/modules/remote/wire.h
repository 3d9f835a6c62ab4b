#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace linkwork {

/// A message that is not one.
class WireError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The wire format of Protocol Buffers, as far as linkwork.proto needs it. A message is a struct with a function
///   template <class Io> void fields(Io& io, Message& x) { io(1, x.first); io(2, x.second); }
/// that lists its fields with their numbers; the writer and the reader below visit them.
class WireWriter {
 public:
  template <class Message>
  static std::string text(const Message& message) {
    WireWriter writer;
    fields(writer, const_cast<Message&>(message));  // only read
    return std::move(writer.out_);
  }

  void operator()(int field, std::uint32_t x) { number(field, x); }
  void operator()(int field, std::uint64_t x) { number(field, x); }
  void operator()(int field, bool x) { number(field, x ? 1 : 0); }
  void operator()(int field, double x) {
    varint(static_cast<std::uint64_t>(field) << 3U | 1U);
    real(x);
  }
  void operator()(int field, const std::string& x) {
    if (!x.empty()) bytes(field, x);
  }
  void operator()(int field, const std::vector<std::string>& list) {
    for (const std::string& x : list) bytes(field, x);
  }
  void operator()(int field, const std::vector<double>& list) {
    if (list.empty()) return;
    varint(static_cast<std::uint64_t>(field) << 3U | 2U);
    varint(8 * list.size());
    out_.reserve(out_.size() + 8 * list.size());
    for (const double x : list) real(x);
  }
  void operator()(int field, const std::vector<std::uint32_t>& list) {
    if (list.empty()) return;
    WireWriter packed;
    for (const std::uint32_t x : list) packed.varint(x);
    bytes(field, packed.out_);
  }
  template <class T>
  void operator()(int field, const std::optional<T>& x) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      if (x) always(field, *x);
    } else {
      if (x) bytes(field, text(*x));
    }
  }
  template <class Message>
  void operator()(int field, const std::vector<Message>& list) {
    for (const Message& x : list) bytes(field, text(x));
  }

 private:
  void always(int field, double x) { (*this)(field, x); }
  void always(int field, const std::string& x) { bytes(field, x); }
  void number(int field, std::uint64_t x) {
    if (x == 0) return;
    varint(static_cast<std::uint64_t>(field) << 3U);
    varint(x);
  }
  void varint(std::uint64_t x) {
    for (; x >= 0x80; x >>= 7U) out_.push_back(static_cast<char>(x | 0x80U));
    out_.push_back(static_cast<char>(x));
  }
  void real(double x) {
    static_assert(sizeof x == 8);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, 8);
    char bytes[8];
    for (unsigned k = 0; k < 8; ++k) bytes[k] = static_cast<char>(bits >> (8U * k));
    out_.append(bytes, 8);
  }
  void bytes(int field, std::string_view x) {
    varint(static_cast<std::uint64_t>(field) << 3U | 2U);
    varint(x.size());
    out_.append(x);
  }

  std::string out_;
};

/// Reads what others have written, whatever it is: throws WireError. Fields that are not known are passed over. No more is
/// allocated than the text itself could hold.
class WireReader {
 public:
  template <class Message>
  static Message message(std::string_view text, int depth = 0) {
    constexpr int kDeepest = 8;
    if (depth > kDeepest) throw WireError("messages are nested too deeply");
    Message result;
    for (WireReader reader(text, depth); reader.next();) fields(reader, result);
    return result;
  }

  void operator()(int field, std::uint32_t& x) {
    if (!is(field, 0)) return;
    if (number_ > UINT32_MAX) throw WireError("a number is too large");
    x = static_cast<std::uint32_t>(number_);
  }
  void operator()(int field, std::uint64_t& x) {
    if (is(field, 0)) x = number_;
  }
  void operator()(int field, bool& x) {
    if (is(field, 0)) x = number_ != 0;
  }
  void operator()(int field, double& x) {
    if (is(field, 1)) x = real(bytes_);
  }
  void operator()(int field, std::string& x) {
    if (is(field, 2)) x = bytes_;
  }
  void operator()(int field, std::vector<std::string>& list) {
    if (is(field, 2)) list.emplace_back(bytes_);
  }
  void operator()(int field, std::vector<double>& list) {
    if (field != field_) return;
    if (type_ == 1) {
      list.push_back(real(bytes_));  // written one by one
    } else {
      if (type_ != 2 || bytes_.size() % 8 != 0) throw WireError("a list of numbers is cut off");
      if (list.empty()) list.reserve(bytes_.size() / 8);
      for (std::string_view left = bytes_; !left.empty(); left.remove_prefix(8)) list.push_back(real(left));
    }
  }
  void operator()(int field, std::vector<std::uint32_t>& list) {
    if (field != field_) return;
    const auto add = [&](std::uint64_t x) {
      if (x > UINT32_MAX) throw WireError("a number is too large");
      list.push_back(static_cast<std::uint32_t>(x));
    };
    if (type_ == 0) {
      add(number_);
    } else {
      if (type_ != 2) throw WireError("a list of numbers is something else");
      for (std::string_view left = bytes_; !left.empty();) add(varint(left));
    }
  }
  template <class T>
  void operator()(int field, std::optional<T>& x) {
    if (field != field_) return;
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      (*this)(field, x.emplace());
    } else {
      if (type_ != 2) throw WireError("a message is something else");
      x = message<T>(bytes_, depth_ + 1);
    }
  }
  template <class Message>
  void operator()(int field, std::vector<Message>& list) {
    if (is(field, 2)) list.push_back(message<Message>(bytes_, depth_ + 1));
  }

 private:
  WireReader(std::string_view text, int depth) : left_(text), depth_(depth) {}

  bool next() {
    if (left_.empty()) return false;
    const std::uint64_t key = varint(left_);
    if (key >> 3U == 0 || key >> 3U > 0x1FFFFFFF) throw WireError("a field has no number");
    field_ = static_cast<int>(key >> 3U);
    type_ = static_cast<int>(key & 7U);
    if (type_ == 0) {
      number_ = varint(left_);
    } else if (type_ == 1) {
      take(8);
    } else if (type_ == 2) {
      take(varint(left_));
    } else if (type_ == 5) {
      take(4);
    } else {
      throw WireError("a field is of no known type");
    }
    return true;
  }

  bool is(int field, int type) const {
    if (field != field_) return false;
    if (type != type_) throw WireError("a field is of another type");
    return true;
  }

  void take(std::uint64_t size) {
    if (size > left_.size()) throw WireError("a message is cut off");
    bytes_ = left_.substr(0, size);
    left_.remove_prefix(size);
  }

  static std::uint64_t varint(std::string_view& from) {
    std::uint64_t x = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (from.empty()) throw WireError("a message is cut off");
      const auto byte = static_cast<unsigned char>(from.front());
      from.remove_prefix(1);
      x |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return x;
    }
    throw WireError("a number is too long");
  }

  static double real(std::string_view from) {
    std::uint64_t bits = 0;
    for (unsigned k = 0; k < 8; ++k) bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(from[k])) << (8 * k);
    double x = 0.0;
    std::memcpy(&x, &bits, 8);
    return x;
  }

  std::string_view left_, bytes_;
  int depth_;
  int field_ = 0, type_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace linkwork
