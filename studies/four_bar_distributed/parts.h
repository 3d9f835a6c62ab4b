#pragma once

#include <string>
#include <vector>

#include "studies/module_run.h"
#include "studies/study.h"

namespace linkwork::studies::four_bar_distributed {

/// The four-bar as two modules, drift control left to the method.
Spec four_bar(const StudyContext& context, const std::string& glue);
/// A thread for each module; threads that take turns on a busy machine are slow, and the bits are the same.
int workers(const StudyContext& context);

/// The glues of methods A, without dampers as published, and B.
std::string compliance(double k);
std::string projection(double sigma);

double largest(const std::vector<double>& values);
/// Fit to be drawn on a logarithmic axis.
std::vector<double> visible(std::vector<double> values);

/// Section 7.1 and 7.3: Figs. 4, 5, 6 and 10.
void fixed_steps(StudyContext& context, StudyResult& result);
/// Section 7.2: Figs. 7, 8 and 9.
void adaptive_steps(StudyContext& context, StudyResult& result);
/// Section 5.3: the reduced equations solved by every processor, or by a master.
void arrangements(StudyContext& context, StudyResult& result);
/// Section 9.
void operations(StudyContext& context, StudyResult& result);

}  // namespace linkwork::studies::four_bar_distributed
