#include "studies/study.h"

#include <utility>

namespace linkwork::studies {

Part& StudyResult::add_part(std::string title, std::string text) {
  return parts.emplace_back(Part{.title = std::move(title), .text = std::move(text)});
}

}  // namespace linkwork::studies
