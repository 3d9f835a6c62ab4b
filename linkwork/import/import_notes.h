#pragma once

#include <string>
#include <vector>

#include "linkwork/import/xml.h"

namespace linkwork {

/// What is to be said of a file that was read: what of it was not taken over, and what is doubtful.
class ImportNotes {
 public:
  /// Counted by what it is: "<collision>".
  void ignore(const std::string& what, const Place& place) { ignore(what, what, place); }
  /// The same, told apart by `sort`: it is called as the first of them was.
  void ignore(const std::string& what, const std::string& sort, const Place& place);
  /// Everything below an element that nobody asked for.
  void ignore_unused(const XmlElement& root);
  /// A remark on something at a place.
  void hint(const std::string& text, const Place& place);
  void hint(const std::string& text) { hints_.push_back(text); }

  std::vector<std::string> lines() const;

 private:
  struct Ignored {
    std::string what, sort;
    int count = 0;
    Place first;
  };
  std::vector<Ignored> ignored_;
  std::vector<std::string> hints_;
};

}  // namespace linkwork
