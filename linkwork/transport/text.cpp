#include "linkwork/transport/text.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "linkwork/transport/rank_tree.h"

namespace linkwork {

namespace {

/// Texts as numbers, eight characters each.
std::size_t numbers_of(std::size_t characters) { return (characters + sizeof(double) - 1) / sizeof(double); }

std::vector<double> packed(const std::string& text) {
  std::vector<double> numbers(numbers_of(text.size()), 0.0);
  if (!text.empty()) std::memcpy(numbers.data(), text.data(), text.size());
  return numbers;
}

std::string unpacked(const double* from, std::size_t size) {
  std::string text(size, '\0');
  if (size > 0) std::memcpy(text.data(), from, size);
  return text;
}

/// A text goes as its length, and then itself, if it is not empty.
void send_text(Transport& transport, const std::string& text, int to) {
  const auto size = static_cast<double>(text.size());
  transport.send({&size, 1}, to, 0);
  if (!text.empty()) transport.send(packed(text), to, 0);
}

std::string receive_text(Transport& transport, int from) {
  double size = 0.0;
  transport.receive({&size, 1}, from, 0);
  std::vector<double> numbers(numbers_of(static_cast<std::size_t>(size)));
  if (!numbers.empty()) transport.receive(numbers, from, 0);
  return unpacked(numbers.data(), static_cast<std::size_t>(size));
}

void tell_all(Transport& transport, std::string& text) {
  go_down_ranks(
      transport, [&](int rank) { text = receive_text(transport, rank); }, [&](int rank) { send_text(transport, text, rank); });
}

}  // namespace

std::vector<Said> all_said(Transport& transport, const std::string& own) {
  std::string all;  // of each: "rank length\n", and the text
  if (!own.empty()) all = std::to_string(transport.rank()) + " " + std::to_string(own.size()) + "\n" + own;
  go_up_ranks(
      transport, [&](int rank) { all += receive_text(transport, rank); }, [&](int rank) { send_text(transport, all, rank); });
  tell_all(transport, all);
  std::vector<Said> said;
  for (std::size_t from = 0; from < all.size();) {
    const std::size_t space = all.find(' ', from), line = all.find('\n', space);
    const std::size_t size = std::stoul(all.substr(space + 1, line - space));
    said.push_back({std::stoi(all.substr(from, space - from)), all.substr(line + 1, size)});
    from = line + 1 + size;
  }
  return said;
}

std::string said_by_first(Transport& transport, const std::string& own) {
  std::string text = own;
  tell_all(transport, text);
  return text;
}

std::vector<std::string> gather_texts(Transport& transport, const std::string& own) {
  std::vector<std::string> texts(static_cast<std::size_t>(transport.size()));
  for (Said& said : all_said(transport, own)) texts[static_cast<std::size_t>(said.rank)] = std::move(said.text);
  return texts;
}

std::vector<std::string> collect_texts(Transport& transport, const std::string& own) {
  const bool is_first = transport.rank() == 0;
  const auto ranks = is_first ? static_cast<std::size_t>(transport.size()) : 0;
  std::vector<int> ends;
  for (std::size_t r = 1; r <= ranks; ++r) ends.push_back(static_cast<int>(r));
  std::vector<double> lengths(ranks);
  const auto length = static_cast<double>(own.size());
  transport.collect({&length, 1}, lengths, ends);
  int end = 0;
  for (std::size_t r = 0; r < ranks; ++r) ends[r] = end += static_cast<int>(numbers_of(static_cast<std::size_t>(lengths[r])));
  std::vector<double> data(static_cast<std::size_t>(end));
  transport.collect(packed(own), data, ends);
  std::vector<std::string> texts;
  const double* from = data.data();
  for (const double size : lengths) {
    texts.push_back(unpacked(from, static_cast<std::size_t>(size)));
    from += numbers_of(texts.back().size());
  }
  return texts;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace linkwork
