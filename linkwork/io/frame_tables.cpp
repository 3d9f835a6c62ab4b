#include <cmath>

#include "linkwork/io/model_tables.h"

// Tables that are frames and little else.

namespace linkwork {

using Eigen::Vector3d;

FrameSpec read_frame(const TableReader& table) {
  FrameSpec frame;
  frame.body = table.text("body");
  frame.place = table.place("body");
  table.read("at", frame.at);
  if (table.has("rpy") && table.has("quat")) {
    throw InputError(table.place("quat"), "the frame has both 'rpy' and 'quat'", "one of them");
  }
  if (table.has("quat")) frame.rotation = table.quaternion("quat");
  if (table.has("rpy")) {
    const Vector3d rpy = table.vector("rpy");
    frame.rotation = Eigen::AngleAxisd(rpy[2], Vector3d::UnitZ()) * Eigen::AngleAxisd(rpy[1], Vector3d::UnitY()) *
                     Eigen::AngleAxisd(rpy[0], Vector3d::UnitX());
  }
  return frame;
}

PortSpec read_port(const TableReader& table, References& references) {
  PortSpec port{table.text("name"), read_frame(table)};
  if (port.name == "ground") table.fail("name", "is 'ground', which connections use for the world frame", "another name");
  references.add_body(port.frame);
  return port;
}

VisualSpec read_visual(const TableReader& table, References& references) {
  VisualSpec visual;
  visual.shape = table.type();
  visual.frame = read_frame(table);
  references.add_body(visual.frame);
  if (visual.shape == "mesh") visual.size = Vector3d::Ones();
  for (const char* key : {"size", "radii", "scale"}) table.read(key, visual.size);
  table.read("radius", visual.radius);
  table.read("length", visual.length);
  table.read("file", visual.file);
  if (table.has("file") && visual.file.empty()) table.fail("file", "is empty", "the path of a mesh");
  if (visual.shape == "mesh" && visual.size.prod() == 0.0) table.fail("scale", "has a zero", "3 numbers other than 0");
  if (!table.has("color")) return visual;
  const std::vector<double> color = table.numbers("color");
  bool good = color.size() == 3 || color.size() == 4;
  for (const double part : color) good = good && part >= 0.0 && part <= 1.0;
  if (!good) table.fail("color", "is " + table.value("color").description(), "3 or 4 numbers from 0 to 1");
  visual.color = {color[0], color[1], color[2], color.size() == 4 ? color[3] : 1.0};
  return visual;
}

}  // namespace linkwork
