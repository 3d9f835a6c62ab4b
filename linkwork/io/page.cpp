#include "linkwork/io/page.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

// Marks of a page: whom it may ask for more, and where the data go.
constexpr std::string_view kConnectMark = "@LINKWORK_CONNECT@";
constexpr std::string_view kDataMark = "@LINKWORK_DATA@";

/// The page up to a mark, which is removed from it together with that part.
std::string_view cut_at(std::string_view& page, std::string_view mark) {
  const std::size_t at = page.find(mark);
  if (at == std::string_view::npos) throw std::invalid_argument("the page lacks " + std::string(mark));
  const std::string_view before = page.substr(0, at);
  page.remove_prefix(at + mark.size());
  return before;
}

/// A script element ends at the first "</script", wherever it stands: no '<' may be left. They occur in strings only.
std::string safe_in_script(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

}  // namespace

std::string page_html(std::string_view page, const std::string& json, bool following) {
  std::string html(cut_at(page, kConnectMark));
  html += following ? "'self'" : "'none'";
  html += cut_at(page, kDataMark);
  html += safe_in_script(json);
  html += page;
  return html;
}

void write_text_file(const std::filesystem::path& file, std::string_view text) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(file.c_str(), "wb"), &std::fclose);
  if (!stream)
    throw InputError({file.string(), 0, 0}, "cannot be written: " + std::generic_category().message(errno),
                     "a folder that can be written to");
  const bool written = std::fwrite(text.data(), 1, text.size(), stream.get()) == text.size();
  if (std::fclose(stream.release()) != 0 || !written) throw std::system_error(errno, std::generic_category(), file.string());
}

}  // namespace linkwork
