#include "linkwork/transport/text.h"

#include <cstring>
#include <sstream>

namespace linkwork {

std::vector<std::string> gather_texts(Transport& transport, const std::string& own) {
  const auto size = static_cast<std::size_t>(transport.size());
  const auto rank = static_cast<std::size_t>(transport.rank());
  std::vector<double> lengths(size, 0.0);
  std::vector<int> ends(size);
  lengths[rank] = static_cast<double>(own.size());
  for (std::size_t r = 0; r < size; ++r) ends[r] = static_cast<int>(r) + 1;
  transport.gather(lengths, ends);

  std::vector<std::size_t> begins{0};
  for (std::size_t r = 0; r < size; ++r) {
    begins.push_back(begins.back() + (static_cast<std::size_t>(lengths[r]) + sizeof(double) - 1) / sizeof(double));
    ends[r] = static_cast<int>(begins.back());
  }
  std::vector<double> data(begins.back(), 0.0);
  if (!own.empty()) std::memcpy(data.data() + begins[rank], own.data(), own.size());
  transport.gather(data, ends);
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < size; ++r) {
    std::string text(static_cast<std::size_t>(lengths[r]), '\0');
    if (!text.empty()) std::memcpy(text.data(), data.data() + begins[r], text.size());
    texts.push_back(std::move(text));
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
