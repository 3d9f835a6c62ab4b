#include "linkwork/integrators/shared_vector.h"

#include <nvector/nvector_serial.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace linkwork {

namespace {

/// The content of a serial vector, whose operations work on it, and what the others need.
struct Content : _N_VectorContent_Serial {
  SharedEquation* equation;
  std::vector<SharedEquation::Part> parts;
};

Content& content_of(N_Vector x) { return *static_cast<Content*>(x->content); }

/// The sum of term(i) over the entries of all ranks.
template <class Term>
double sum(N_Vector x, Term term) {
  const Content& content = content_of(x);
  std::vector<double> sums;
  int at = 0;
  for (const SharedEquation::Part& part : content.parts) {
    double sum = 0.0;
    for (const int end = at + part.size; at < end; ++at) sum += term(at);
    sums.push_back(sum);
  }
  return content.equation->sum(sums);
}

double entries(N_Vector x) { return static_cast<double>(content_of(x).equation->total()); }
double square(double x) { return x * x; }

double dot(N_Vector x, N_Vector y) {
  const double *const a = N_VGetArrayPointer(x), *const b = N_VGetArrayPointer(y);
  return sum(x, [&](int i) { return a[i] * b[i]; });
}

double weighted_square(N_Vector x, N_Vector w) {
  const double *const a = N_VGetArrayPointer(x), *const b = N_VGetArrayPointer(w);
  return sum(x, [&](int i) { return square(a[i] * b[i]); });
}

double weighted_rms(N_Vector x, N_Vector w) { return std::sqrt(weighted_square(x, w) / entries(x)); }
double weighted_length(N_Vector x, N_Vector w) { return std::sqrt(weighted_square(x, w)); }

double weighted_rms_masked(N_Vector x, N_Vector w, N_Vector mask) {
  const double *const a = N_VGetArrayPointer(x), *const b = N_VGetArrayPointer(w), *const m = N_VGetArrayPointer(mask);
  return std::sqrt(sum(x, [&](int i) { return m[i] > 0.0 ? square(a[i] * b[i]) : 0.0; }) / entries(x));
}

double sum_of_sizes(N_Vector x) {
  const double* const a = N_VGetArrayPointer(x);
  return sum(x, [&](int i) { return std::abs(a[i]); });
}

double largest_size(N_Vector x) {
  const Content& content = content_of(x);
  double largest = 0.0;
  for (sunindextype i = 0; i < content.length; ++i) largest = std::max(largest, std::abs(content.data[i]));
  return content.equation->largest(largest);
}

double smallest(N_Vector x) {
  const Content& content = content_of(x);
  double smallest = std::numeric_limits<double>::max();
  for (sunindextype i = 0; i < content.length; ++i) smallest = std::min(smallest, content.data[i]);
  return -content.equation->largest(-smallest);
}

sunindextype total(N_Vector x) { return content_of(x).equation->total(); }

void destroy(N_Vector x) {
  if (x == nullptr) return;
  if (auto* const content = static_cast<Content*>(x->content)) {
    delete[] content->data;
    delete content;
    x->content = nullptr;
  }
  N_VFreeEmpty(x);
}

N_Vector clone(N_Vector from) {
  N_Vector x = N_VNewEmpty(from->sunctx);
  N_VCopyOps(from, x);
  auto* const content = new Content(content_of(from));
  content->own_data = SUNTRUE;
  content->data = new double[static_cast<std::size_t>(content->length)]();
  x->content = content;
  return x;
}

}  // namespace

N_Vector make_shared_vector(SharedEquation& equation, SUNContext context) {
  N_Vector like = N_VNew_Serial(0, context);
  N_Vector x = N_VNewEmpty(context);
  N_VCopyOps(like, x);
  N_VDestroy(like);
  x->ops->nvclone = clone;
  x->ops->nvcloneempty = nullptr;
  x->ops->nvdestroy = destroy;
  x->ops->nvgetlength = total;
  x->ops->nvdotprod = dot;
  x->ops->nvwrmsnorm = weighted_rms;
  x->ops->nvwrmsnormmask = weighted_rms_masked;
  x->ops->nvwl2norm = weighted_length;
  x->ops->nvl1norm = sum_of_sizes;
  x->ops->nvmaxnorm = largest_size;
  x->ops->nvmin = smallest;
  auto* const content = new Content{};
  content->equation = &equation;
  content->parts = equation.parts();
  for (const SharedEquation::Part& part : content->parts) content->length += part.size;
  content->own_data = SUNTRUE;
  content->data = new double[static_cast<std::size_t>(content->length)]();
  x->content = content;
  return x;
}

}  // namespace linkwork
