#pragma once

namespace linkwork {

/// The value that a variable of Student's distribution does not exceed with probability p, 0.5 <= p < 1.
double student_quantile(double p, double degrees_of_freedom);

}  // namespace linkwork
