#include "linkwork/import/xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <pugixml.hpp>

namespace linkwork {
namespace {

constexpr int kDeepest = 1000;
constexpr std::size_t kMostElements = 4'000'000;

/// Lines and columns of offsets into a text.
class Lines {
 public:
  explicit Lines(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') starts_.push_back(i + 1);
  }
  int line(std::size_t offset) const {
    return static_cast<int>(std::upper_bound(starts_.begin(), starts_.end(), offset) - starts_.begin());
  }
  int column(std::size_t offset) const {
    return static_cast<int>(offset - starts_[static_cast<std::size_t>(line(offset) - 1)]) + 1;
  }

 private:
  std::vector<std::size_t> starts_{0};
};

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

class Copier {
 public:
  Copier(const std::string& file, std::string_view text)
      : file_(std::make_shared<const std::string>(file)), lines_(text), size_(text.size()) {}

  Place place(std::ptrdiff_t offset) const {
    const std::size_t at = std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)), size_);
    return {*file_, lines_.line(at), lines_.column(at)};
  }

  XmlElement copy(const pugi::xml_node& node, int depth) {
    XmlElement element;
    const Place at = place(node.offset_debug() - 1);  // of the bracket
    if (depth > kDeepest) throw InputError(at, "the elements are nested too deeply", fmt::format("at most {} levels", kDeepest));
    if (++count_ > kMostElements) throw InputError(at, "there are too many elements", fmt::format("at most {}", kMostElements));
    element.name = node.name();
    element.file = file_;
    element.line = at.line, element.column = at.column;
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      const std::string_view name = attribute.name();
      for (const XmlElement::Attribute& other : element.attributes)
        if (other.name == name) throw InputError(at, fmt::format("<{}> has the attribute '{}' twice", element.name, name));
      element.attributes.push_back({std::string(name), attribute.value(), name.starts_with("xmlns")});
    }
    for (const pugi::xml_node& child : node.children()) {
      if (child.type() == pugi::node_element) element.children.push_back(copy(child, depth + 1));
      if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) element.text += child.value();
    }
    element.text = trimmed(element.text);
    return element;
  }

 private:
  std::shared_ptr<const std::string> file_;
  Lines lines_;
  std::size_t size_;
  std::size_t count_ = 0;
};

}  // namespace

std::string XmlElement::described() const {
  for (const Attribute& attribute : attributes)
    if (attribute.name == "name" && !attribute.value.empty()) return fmt::format("<{}> '{}'", name, attribute.value);
  return "<" + name + ">";
}

void XmlElement::fail(const std::string& what, const std::string& expected) const {
  throw InputError(place(), described() + " " + what, expected);
}

const XmlElement* XmlElement::find(std::string_view child) const {
  for (const XmlElement& one : children)
    if (one.name == child) {
      one.used = true;
      return &one;
    }
  return nullptr;
}

std::vector<const XmlElement*> XmlElement::all(std::string_view child) const {
  std::vector<const XmlElement*> found;
  for (const XmlElement& one : children)
    if (one.name == child) {
      one.used = true;
      found.push_back(&one);
    }
  return found;
}

const XmlElement& XmlElement::need(std::string_view child) const {
  const XmlElement* const found = find(child);
  if (found == nullptr) fail(fmt::format("has no <{}>", child), fmt::format("a <{}> in it", child));
  return *found;
}

const XmlElement::Attribute* XmlElement::attribute(std::string_view wanted) const {
  for (const Attribute& one : attributes)
    if (one.name == wanted) {
      one.used = true;
      return &one;
    }
  return nullptr;
}

bool XmlElement::has(std::string_view wanted) const {
  return std::ranges::any_of(attributes, [&](const Attribute& one) { return one.name == wanted; });
}

std::optional<std::string> XmlElement::get(std::string_view wanted) const {
  const Attribute* const found = attribute(wanted);
  return found != nullptr ? std::optional(found->value) : std::nullopt;
}

std::string XmlElement::get(std::string_view wanted, const std::string& otherwise) const {
  return get(wanted).value_or(otherwise);
}

std::string XmlElement::need_text(std::string_view wanted) const {
  const auto found = get(wanted);
  if (!found || trimmed(*found).empty()) fail(fmt::format("has no '{}'", wanted), fmt::format("{}=\"...\"", wanted));
  return *found;
}

std::vector<double> XmlElement::any_numbers(std::string_view wanted) const {
  const auto found = get(wanted);
  if (!found) return {};
  return numbers_in(*found, place(), fmt::format("'{}' of {}", wanted, described()));
}

std::vector<double> XmlElement::numbers(std::string_view wanted, std::size_t count) const {
  std::vector<double> result = any_numbers(wanted);
  if (has(wanted) && result.size() != count)
    fail(fmt::format("has {} numbers in '{}'", result.size(), wanted), fmt::format("{} of them", count));
  return result;
}

std::optional<double> XmlElement::number(std::string_view wanted) const {
  const std::vector<double> result = numbers(wanted, 1);
  return result.empty() ? std::nullopt : std::optional(result[0]);
}

double XmlElement::number(std::string_view wanted, double otherwise) const { return number(wanted).value_or(otherwise); }

std::optional<Eigen::Vector3d> XmlElement::vector(std::string_view wanted) const {
  const std::vector<double> n = numbers(wanted, 3);
  for (const double x : n)
    if (!std::isfinite(x)) fail(fmt::format("has an infinite number in '{}'", wanted), "finite ones");
  return n.empty() ? std::nullopt : std::optional(Eigen::Vector3d(n[0], n[1], n[2]));
}

Eigen::Vector3d XmlElement::vector(std::string_view wanted, const Eigen::Vector3d& otherwise) const {
  return vector(wanted).value_or(otherwise);
}

std::optional<bool> XmlElement::boolean(std::string_view wanted) const {
  const auto found = get(wanted);
  if (!found) return {};
  if (*found == "true" || *found == "1" || *found == "True") return true;
  if (*found == "false" || *found == "0" || *found == "False") return false;
  fail(fmt::format("has '{}' in '{}'", *found, wanted), "true or false");
}

std::vector<double> XmlElement::text_numbers() const { return numbers_in(text, place(), described()); }

double XmlElement::text_number() const {
  const std::vector<double> n = text_numbers();
  if (n.size() != 1) fail(fmt::format("has {} numbers", n.size()), "one");
  return n[0];
}

bool XmlElement::text_boolean() const {
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  fail(fmt::format("is '{}'", text), "true or false");
}

void XmlElement::use_all() const {
  used = true;
  for (const Attribute& attribute : attributes) attribute.used = true;
  for (const XmlElement& child : children) child.use_all();
}

std::vector<double> numbers_in(std::string_view text, const Place& place, const std::string& what) {
  std::vector<double> numbers;
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ','; };
  for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
    if (is_blank(*at)) {
      ++at;
      continue;
    }
    const char* const word_end = std::find_if(at, end, is_blank);
    const char* const first = *at == '+' ? at + 1 : at;
    double number = 0.0;
    const auto [stop, error] = std::from_chars(first, word_end, number);
    const bool huge = error == std::errc::result_out_of_range;
    if ((error != std::errc{} && !huge) || stop != word_end || std::isnan(number))
      throw InputError(place, fmt::format("{} has '{}'", what, std::string_view(at, word_end)), "numbers");
    if (huge) throw InputError(place, fmt::format("{} has '{}', which is out of range", what, std::string_view(at, word_end)));
    numbers.push_back(number);
    at = word_end;
  }
  return numbers;
}

XmlElement parse_xml(std::string_view text, const std::string& file_name) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  Copier copier(file_name, text);
  pugi::xml_document document;
  const pugi::xml_parse_result parsed =
      document.load_buffer(text.data(), text.size(), pugi::parse_default | pugi::parse_ws_pcdata_single, pugi::encoding_utf8);
  if (!parsed) {
    std::string why = parsed.description();
    if (!why.empty() && why.back() == '.') why.pop_back();
    throw InputError(copier.place(parsed.offset), "the XML cannot be read: " + why, "a well-formed XML file");
  }
  pugi::xml_node root;
  for (const pugi::xml_node& node : document.children())
    if (node.type() == pugi::node_element) {
      if (root) throw InputError(copier.place(node.offset_debug() - 1), "the file has a second root element", "one");
      root = node;
    }
  if (!root) throw InputError({file_name, 1, 1}, "the file has no element", "a robot in URDF, SDF or MJCF");
  return copier.copy(root, 0);
}

}  // namespace linkwork
