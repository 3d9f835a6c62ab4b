#pragma once

#include "linkwork/io/references.h"
#include "linkwork/io/table_reader.h"
#include "linkwork/model/spec.h"

namespace linkwork {

// One table of a model file each. What a table says about others is noted in `references`.

Settings read_settings(const TableReader& table);
BodySpec read_body(const TableReader& table);
JointSpec read_joint(const TableReader& table, References& references);
ClosureSpec read_closure(const TableReader& table, const Kinds& kinds, References& references);
EventSpec read_event(const TableReader& table, References& references);
/// The parameter that an action "set NAME = EXPRESSION" changes; empty if it is another action.
std::string parameter_set_by(std::string_view action);
/// between_ports: all but its ends, which the caller takes from the ports.
ForceSpec read_force(const TableReader& table, const Kinds& kinds, References& references, bool between_ports = false);
SensorSpec read_sensor(const TableReader& table, const Kinds& kinds, References& references);
/// Gives the text of a data file that a key names.
using LoadData = std::function<const std::string&(const std::string& file, const Place& asked_at)>;
InputSpec read_input(const TableReader& table, const LoadData& load);
StateSpec read_state(const TableReader& table, References& references);
std::shared_ptr<const Curve> read_table(const TableReader& table, const LoadData& load);
BlockSpec read_fmu(const TableReader& table, const LoadData& load, References& references);
PortSpec read_port(const TableReader& table, References& references);
/// Of a mesh, `file` is as written.
VisualSpec read_visual(const TableReader& table, References& references);
/// body, at and the rotation, as far as the table has keys for them.
FrameSpec read_frame(const TableReader& table);
/// A constraint between ports: all but the frames, which the caller takes from the ports.
ClosureSpec read_connection(const TableReader& table, References& references);

}  // namespace linkwork
