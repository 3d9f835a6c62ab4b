#pragma once

#include <Eigen/Core>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linkwork/model/input_error.h"

namespace linkwork {

/// An element of an XML file with the place it stands at. It remembers what of it was asked for, so that what nobody asked for
/// can be listed at the end.
class XmlElement {
 public:
  struct Attribute {
    std::string name, value;
    mutable bool used = false;
  };

  std::string name;
  std::string text;  // without blanks at its ends
  std::vector<Attribute> attributes;
  std::vector<XmlElement> children;
  std::shared_ptr<const std::string> file;
  int line = 0, column = 0;
  mutable bool used = false;

  Place place() const { return {file ? *file : "", line, column}; }
  /// "<joint> 'knee'" or "<joint>", for messages.
  std::string described() const;
  [[noreturn]] void fail(const std::string& what, const std::string& expected = {}) const;

  /// The first child of a name, or null. It counts as used, with or without its own children.
  const XmlElement* find(std::string_view child) const;
  /// All of a name, in their order.
  std::vector<const XmlElement*> all(std::string_view child) const;
  /// The same; there must be one.
  const XmlElement& need(std::string_view child) const;

  bool has(std::string_view attribute) const;
  std::optional<std::string> get(std::string_view attribute) const;
  std::string get(std::string_view attribute, const std::string& otherwise) const;
  std::string need_text(std::string_view attribute) const;
  std::optional<double> number(std::string_view attribute) const;
  double number(std::string_view attribute, double otherwise) const;
  /// Exactly so many; none: as many as there are.
  std::vector<double> numbers(std::string_view attribute, std::size_t count) const;
  std::vector<double> any_numbers(std::string_view attribute) const;
  std::optional<Eigen::Vector3d> vector(std::string_view attribute) const;
  Eigen::Vector3d vector(std::string_view attribute, const Eigen::Vector3d& otherwise) const;
  std::optional<bool> boolean(std::string_view attribute) const;

  /// The same for its text, as SDF has it.
  std::vector<double> text_numbers() const;
  double text_number() const;
  bool text_boolean() const;

  /// Takes all of it as read, or nothing.
  void use_all() const;

 private:
  const Attribute* attribute(std::string_view attribute) const;
};

/// Numbers separated by blanks (or commas); infinite ones are let pass, others that are not finite are refused.
std::vector<double> numbers_in(std::string_view text, const Place& place, const std::string& what);

/// The root of a text. Entities other than the five of XML are not replaced. Throws InputError with the place of what is wrong.
XmlElement parse_xml(std::string_view text, const std::string& file_name);

}  // namespace linkwork
