#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linkwork/modules/module.h"

namespace linkwork {

class SignalBlock;

/// A module that is a signal block, such as an FMU: forces on its ports are inputs, and outputs show how the ports move. For a
/// port "tip" these are
///   inputs   tip.fx tip.fy tip.fz, tip.tx tip.ty tip.tz       force at the port's origin, and torque
///   outputs  tip.x tip.y tip.z, tip.qw tip.qx tip.qy tip.qz   where it is
///            tip.vx tip.vy tip.vz, tip.wx tip.wy tip.wz       velocity, and angular velocity
///            tip.ax tip.ay tip.az, tip.dwx tip.dwy tip.dwz    their rates
/// all in world axes. Accelerations are affine in the forces, xdd = D Q + R: 6 evaluations a port and one without forces give D
/// and R exactly. Throws InputError if the block is no such module, or has events.
std::unique_ptr<Module> make_block_module(const std::string& name, std::shared_ptr<const SignalBlock> block,
                                          const std::vector<std::string>& ports);

}  // namespace linkwork
