#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "linkwork/model/model.h"

namespace linkwork {

/// The meshes that a model's visuals name, read and thinned until all together are not too much for a page.
class SceneMeshes {
 public:
  explicit SceneMeshes(const Spec& spec);

  /// What is drawn for a visual: one part for each colour. Null: it is no mesh, or cannot be read.
  struct Part {
    std::size_t mesh;  // in text()
    std::optional<std::array<double, 4>> color;
  };
  const std::vector<Part>* find(const std::string& file) const;
  /// A JSON array, or nothing if there are none.
  const std::string& text() const { return text_; }
  /// Which cannot be read, and why.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::map<std::string, std::vector<Part>> parts_;  // by file
  std::string text_;
  std::vector<std::string> notes_;
};

/// All that is needed, beside the rows of a run, to draw its mechanism: bodies with their solids, joints, closures, springs,
/// sensors and visuals with their places on the bodies, the settings, and the model's text. The page computes the bodies' poses
/// from the joint coordinates in the rows. A JSON object in UTF-8. The model was built from the spec.
std::string scene_json(const Spec& spec, const Model& model, std::span<const std::string> columns, const SceneMeshes& meshes);
std::string scene_json(const Spec& spec, const Model& model, std::span<const std::string> columns);

}  // namespace linkwork
