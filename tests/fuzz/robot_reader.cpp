// Any text must give a robot or an InputError, and a robot that was taken must be one that a model file can say.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "linkwork/import/robot_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Nothing is read from disk: what stands behind a line of dashes is the text of every other file.
  const std::size_t line = text.find("\n---\n");
  const std::string_view robot = text.substr(0, line);
  linkwork::ReadOptions reading;
  reading.load = [&](const std::filesystem::path& file) -> std::string {
    if (line == std::string_view::npos) throw linkwork::InputError({file.string(), 0, 0}, "is not there");
    return std::string(text.substr(line + 5));
  };
  linkwork::ImportOptions options;
  options.fixed_base = size % 2 == 0;
  try {
    const linkwork::ImportedRobot read = linkwork::import_robot(robot, "robot.xml", options, reading);
    const linkwork::Spec spec = linkwork::read_model_document(read.document);
    linkwork::read_model_text(linkwork::model_text(read, "robot.xml"), "robot.toml");
  } catch (const linkwork::InputError&) {
    // Most texts are bad input.
  }
  return 0;
}
