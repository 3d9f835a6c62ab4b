#pragma once

#include <memory>
#include <vector>

#include "linkwork/model/model.h"
#include "linkwork/modules/module.h"

namespace linkwork {

/// A module that is a Linkwork model. D and R come from its own recursion: unit wrenches on the ports are carried to the ground
/// through the articulated bodies, its own loops eliminated on the way (LoopElimination). The state is (q, v, work).
/// `start_values` are positions and velocities of its joints, joint by joint; empty: the model's own, assembled.
std::unique_ptr<Module> make_model_module(Model model, const std::vector<FrameSpec>& ports,
                                          std::vector<double> start_values = {});

/// The joints of a model at a state, joint by joint: positions, then velocities.
std::vector<double> joint_values(const Model& model, const VecX<double>& q, const VecX<double>& v);

}  // namespace linkwork
