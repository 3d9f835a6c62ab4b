#include "linkwork/import/import_notes.h"

#include <fmt/format.h>

#include <algorithm>

namespace linkwork {

void ImportNotes::ignore(const std::string& what, const std::string& sort, const Place& place) {
  const auto known = std::ranges::find(ignored_, sort, &Ignored::sort);
  if (known != ignored_.end())
    ++known->count;
  else
    ignored_.push_back({what, sort, 1, place});
}

void ImportNotes::ignore_unused(const XmlElement& root) {
  for (const XmlElement::Attribute& attribute : root.attributes)
    if (!attribute.used) ignore(fmt::format("'{}' of <{}>", attribute.name, root.name), root.place());
  for (const XmlElement& child : root.children) {
    if (child.used)
      ignore_unused(child);
    else
      ignore(fmt::format("<{}> in <{}>", child.name, root.name), child.place());
  }
}

void ImportNotes::hint(const std::string& text, const Place& place) {
  hints_.push_back(place.line > 0 ? fmt::format("line {}: {}", place.line, text) : text);
}

std::vector<std::string> ImportNotes::lines() const {
  constexpr std::size_t kMostHints = 20;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < hints_.size() && i < kMostHints; ++i) lines.push_back(hints_[i]);
  if (hints_.size() > kMostHints) lines.push_back(fmt::format("and {} more such remarks", hints_.size() - kMostHints));
  for (const Ignored& one : ignored_)
    lines.push_back(
        fmt::format("ignored: {} {} ({} {})", one.count, one.what, one.count == 1 ? "line" : "first at line", one.first.line));
  return lines;
}

}  // namespace linkwork
