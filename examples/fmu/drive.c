/* The drive of a press as an FMU (FMI 2.0, model exchange): a motor turns a crank with a flywheel, and the crank pin is the port 'tip'.
   It stands for what another program of simulation would export. make.py compiles and packs it.

   Linkwork glues an FMU to other modules if each of its ports P has the inputs P.fx ... P.tz (force and torque on the port) and the
   outputs P.x ... P.dwz (where the port is, its velocity and its acceleration), all in world axes. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { ANGLE, SPEED, DER_ANGLE, DER_SPEED, TORQUE, IDLE, INERTIA, RADIUS, FORCE, MOTION = FORCE + 6, COUNT = MOTION + 19 };
typedef struct {
  double r[COUNT]; /* all variables, by their value references */
} Drive;

static void start(Drive* d) {
  memset(d, 0, sizeof *d);
  d->r[ANGLE] = 3.14159265358979323846, d->r[SPEED] = 0.0, d->r[TORQUE] = 40.0, d->r[IDLE] = 8.0, d->r[INERTIA] = 1.2, d->r[RADIUS] = 0.15;
}

/* Rates of the states, and the motion of the port: inertia * dw = torque * (1 - w / idle) + what the force at the port does. */
static void update(Drive* d) {
  double* r = d->r;
  const double w = r[SPEED], x = r[RADIUS] * cos(r[ANGLE]), y = r[RADIUS] * sin(r[ANGLE]);
  const double *f = r + FORCE, *t = r + FORCE + 3;
  const double dw = (r[TORQUE] * (1.0 - w / r[IDLE]) + t[2] + x * f[1] - y * f[0]) / r[INERTIA];
  r[DER_ANGLE] = w, r[DER_SPEED] = dw;
  const double motion[19] = {x, y, 0, cos(r[ANGLE] / 2), 0, 0, sin(r[ANGLE] / 2),    /* position, quaternion */
                             -y * w, x * w, 0, 0, 0, w,                              /* velocity, angular velocity */
                             -y * dw - x * w * w, x * dw - y * w * w, 0, 0, 0, dw}; /* accelerations */
  memcpy(r + MOTION, motion, sizeof motion);
}

/* The functions of FMI 2.0 that model exchange needs. */
typedef int Status; /* 0: fmi2OK */
typedef struct {
  int again, terminate, nominals, values, has_next;
  double next;
} EventInfo;
typedef const unsigned Reference[];

void* fmi2Instantiate(const char* name, int type, const char* guid, const char* resources, const void* callbacks, int visible,
                      int logging) {
  (void)name, (void)guid, (void)resources, (void)callbacks, (void)visible, (void)logging;
  Drive* made = type == 0 ? malloc(sizeof(Drive)) : NULL; /* 0: model exchange */
  if (made != NULL) start(made);
  return made;
}
void fmi2FreeInstance(void* c) { free(c); }
const char* fmi2GetVersion(void) { return "2.0"; }
const char* fmi2GetTypesPlatform(void) { return "default"; }
Status fmi2SetDebugLogging(void* c, int on, size_t n, const char* const list[]) { return (void)c, (void)on, (void)n, (void)list, 0; }
Status fmi2SetupExperiment(void* c, int has_tolerance, double tolerance, double t, int has_stop, double stop) {
  return (void)c, (void)has_tolerance, (void)tolerance, (void)t, (void)has_stop, (void)stop, 0;
}
Status fmi2EnterInitializationMode(void* c) { return (void)c, 0; }
Status fmi2ExitInitializationMode(void* c) { return (void)c, 0; }
Status fmi2Terminate(void* c) { return (void)c, 0; }
Status fmi2Reset(void* c) { return start(c), 0; }
Status fmi2GetReal(void* c, Reference which, size_t n, double value[]) {
  update(c);
  for (size_t k = 0; k < n; ++k) value[k] = ((Drive*)c)->r[which[k]];
  return 0;
}
Status fmi2SetReal(void* c, Reference which, size_t n, const double value[]) {
  for (size_t k = 0; k < n; ++k) ((Drive*)c)->r[which[k]] = value[k];
  return 0;
}
Status fmi2SetTime(void* c, double t) { return (void)c, (void)t, 0; }
Status fmi2GetContinuousStates(void* c, double x[], size_t n) { return memcpy(x, c, n * sizeof(double)), 0; } /* the first of r */
Status fmi2SetContinuousStates(void* c, const double x[], size_t n) { return memcpy(c, x, n * sizeof(double)), 0; }
Status fmi2GetDerivatives(void* c, double x[], size_t n) {
  return update(c), memcpy(x, ((Drive*)c)->r + DER_ANGLE, n * sizeof(double)), 0;
}
Status fmi2GetNominalsOfContinuousStates(void* c, double x[], size_t n) {
  (void)c;
  for (size_t k = 0; k < n; ++k) x[k] = 1.0;
  return 0;
}
Status fmi2GetEventIndicators(void* c, double z[], size_t n) { return (void)c, (void)z, (void)n, 0; }
Status fmi2EnterEventMode(void* c) { return (void)c, 0; }
Status fmi2EnterContinuousTimeMode(void* c) { return (void)c, 0; }
Status fmi2NewDiscreteStates(void* c, EventInfo* info) { return (void)c, *info = (EventInfo){0}, 0; }
Status fmi2CompletedIntegratorStep(void* c, int no_return, int* event, int* terminate) {
  return (void)c, (void)no_return, *event = *terminate = 0, 0;
}
