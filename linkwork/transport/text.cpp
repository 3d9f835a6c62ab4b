#include "linkwork/transport/text.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace linkwork {

namespace {

/// Texts as numbers, eight characters each.
std::size_t numbers_of(std::size_t characters) { return (characters + sizeof(double) - 1) / sizeof(double); }

std::vector<double> packed(const std::string& text) {
  std::vector<double> numbers(numbers_of(text.size()), 0.0);
  if (!text.empty()) std::memcpy(numbers.data(), text.data(), text.size());
  return numbers;
}

/// Lengths of all ranks' texts, and where their numbers end.
std::vector<double> gather_lengths(Transport& transport, std::size_t own, std::vector<int>& ends) {
  std::vector<double> lengths(static_cast<std::size_t>(transport.size()), 0.0);
  ends.clear();
  for (int r = 0; r < transport.size(); ++r) ends.push_back(r + 1);
  lengths[static_cast<std::size_t>(transport.rank())] = static_cast<double>(own);
  transport.gather(lengths, ends);
  int end = 0;
  for (std::size_t r = 0; r < lengths.size(); ++r)
    ends[r] = end += static_cast<int>(numbers_of(static_cast<std::size_t>(lengths[r])));
  return lengths;
}

std::vector<std::string> unpacked(const std::vector<double>& data, const std::vector<double>& lengths) {
  std::vector<std::string> texts;
  const double* from = data.data();
  for (const double length : lengths) {
    std::string text(static_cast<std::size_t>(length), '\0');
    if (!text.empty()) std::memcpy(text.data(), from, text.size());
    from += numbers_of(text.size());
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

std::vector<std::string> gather_texts(Transport& transport, const std::string& own) {
  std::vector<int> ends;
  const std::vector<double> lengths = gather_lengths(transport, own.size(), ends);
  if (ends.back() == 0) return std::vector<std::string>(lengths.size());
  std::vector<double> data(static_cast<std::size_t>(ends.back()), 0.0);
  const std::vector<double> numbers = packed(own);
  const int begin = ends[static_cast<std::size_t>(transport.rank())] - static_cast<int>(numbers.size());
  std::ranges::copy(numbers, data.begin() + begin);
  transport.gather(data, ends);
  return unpacked(data, lengths);
}

std::vector<std::string> collect_texts(Transport& transport, const std::string& own) {
  std::vector<int> ends;
  const std::vector<double> lengths = gather_lengths(transport, own.size(), ends);
  std::vector<double> data(transport.rank() == 0 ? static_cast<std::size_t>(ends.back()) : 0);
  transport.collect(packed(own), data, ends);
  if (transport.rank() != 0) return {};
  return unpacked(data, lengths);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace linkwork
