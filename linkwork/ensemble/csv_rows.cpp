#include "linkwork/ensemble/csv_rows.h"

#include <charconv>
#include <fstream>
#include <limits>

namespace linkwork {

void read_csv_rows(const std::filesystem::path& file,
                   const std::function<bool(const std::vector<std::string>& fields, std::uint64_t end)>& take) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<std::string> fields(1);
  std::vector<char> block(1U << 16U);
  bool quoted = false, was_quoted = false;  // within quotes; and this field was at some time
  std::uint64_t at = 0;
  while (stream) {
    stream.read(block.data(), std::ssize(block));
    const auto count = static_cast<std::size_t>(stream.gcount());
    for (std::size_t i = 0; i < count; ++i) {
      const char c = block[i];
      ++at;
      if (c == '"') {
        // The second of two quotes within quotes stands for one: it opens them again.
        if (!quoted && was_quoted) fields.back() += c;
        quoted = !quoted;
        was_quoted = true;
      } else if (quoted || (c != ',' && c != '\n')) {
        fields.back() += c;
      } else if (c == ',') {
        fields.emplace_back();
        was_quoted = false;
      } else {
        if (!take(fields, at)) return;
        fields.assign(1, "");
        was_quoted = false;
      }
    }
  }
}

double csv_number(const std::string& field) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool is_number = error == std::errc() && end == field.data() + field.size() && !field.empty();
  return is_number ? value : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace linkwork
