/* A fixture with the interface of FMI 2.0, written from the standard. */
#include "fixture_models.h"

typedef enum { OK, WARNING, DISCARD, ERROR_, FATAL } Status;
typedef void (*Logger)(void*, const char*, Status, const char*, const char*, ...);
typedef struct {
  Logger logger;
  void* (*allocate)(size_t, size_t);
  void (*release)(void*);
  void (*finished)(void*, Status);
  void* environment;
} Callbacks;
typedef struct {
  int again, terminate, nominals, values, has_next;
  double next;
} EventInfo;
typedef struct {
  Model m;
  const Callbacks* callbacks;
  double rates[16]; /* of inputs */
} Instance;
#define EXPORT __attribute__((visibility("default")))
#define M (&((Instance*)c)->m)

EXPORT const char* fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char* fmi2GetVersion(void) { return "2.0"; }
EXPORT void* fmi2Instantiate(const char* name, int type, const char* guid, const char* resources, const Callbacks* callbacks,
                             int visible, int logging) {
  (void)type, (void)visible, (void)logging;
  if (strcmp(guid, GUID) != 0 || strncmp(resources, "file://", 7) != 0) {
    callbacks->logger(callbacks->environment, name, ERROR_, "logStatusError", "the GUID %s is wrong", guid);
    return NULL;
  }
  Instance* made = calloc(1, sizeof(Instance));
  made->callbacks = callbacks;
  made->m.next = -1.0;
  start(&made->m);
  update(&made->m);
  return made;
}
EXPORT void fmi2FreeInstance(void* c) { free(c); }
EXPORT Status fmi2SetDebugLogging(void* c, int on, size_t n, const char* const list[]) { return (void)c, (void)on, (void)n, (void)list, OK; }
EXPORT Status fmi2SetupExperiment(void* c, int a, double tolerance, double t, int b, double stop) {
  return (void)a, (void)tolerance, (void)b, (void)stop, M->t = t, OK;
}
EXPORT Status fmi2EnterInitializationMode(void* c) { return (void)c, OK; }
EXPORT Status fmi2ExitInitializationMode(void* c) { return update(M), OK; }
EXPORT Status fmi2Terminate(void* c) { return (void)c, OK; }
EXPORT Status fmi2Reset(void* c) { return start(M), OK; }

static Status fail(void* c) {
  Instance* of = c;
  of->callbacks->logger(of->callbacks->environment, "fixture", ERROR_, "logStatusError", "no value at t = %g", of->m.t);
  return ERROR_;
}

EXPORT Status fmi2GetReal(void* c, const unsigned r[], size_t n, double v[]) {
  if (FAILS(M)) return fail(c);
  update(M);
  for (size_t k = 0; k < n; ++k) v[k] = M->r[r[k]];
  return OK;
}
EXPORT Status fmi2SetReal(void* c, const unsigned r[], size_t n, const double v[]) {
  for (size_t k = 0; k < n; ++k) M->r[r[k]] = v[k];
  return OK;
}
EXPORT Status fmi2GetInteger(void* c, const unsigned r[], size_t n, int v[]) {
  update(M);
  for (size_t k = 0; k < n; ++k) v[k] = (int)M->i[r[k]];
  return OK;
}
EXPORT Status fmi2SetInteger(void* c, const unsigned r[], size_t n, const int v[]) {
  for (size_t k = 0; k < n; ++k) M->i[r[k]] = v[k];
  return OK;
}
EXPORT Status fmi2GetBoolean(void* c, const unsigned r[], size_t n, int v[]) {
  update(M);
  for (size_t k = 0; k < n; ++k) v[k] = M->b[r[k]];
  return OK;
}
EXPORT Status fmi2SetBoolean(void* c, const unsigned r[], size_t n, const int v[]) {
  for (size_t k = 0; k < n; ++k) M->b[r[k]] = v[k];
  return OK;
}
EXPORT Status fmi2GetString(void* c, const unsigned r[], size_t n, const char* v[]) {
  update(M);
  for (size_t k = 0; k < n; ++k) v[k] = M->s[r[k]];
  return OK;
}
EXPORT Status fmi2SetString(void* c, const unsigned r[], size_t n, const char* const v[]) {
  for (size_t k = 0; k < n; ++k) snprintf(M->s[r[k]], sizeof M->s[0], "%s", v[k]);
  return OK;
}

EXPORT Status fmi2GetFMUstate(void* c, void** state) {
  if (*state == NULL) *state = malloc(sizeof(Model));
  return memcpy(*state, M, sizeof(Model)), OK;
}
EXPORT Status fmi2SetFMUstate(void* c, void* state) { return memcpy(M, state, sizeof(Model)), OK; }
EXPORT Status fmi2FreeFMUstate(void* c, void** state) { return (void)c, free(*state), *state = NULL, OK; }
EXPORT Status fmi2SerializedFMUstateSize(void* c, void* state, size_t* size) { return (void)c, (void)state, *size = sizeof(Model), OK; }
EXPORT Status fmi2SerializeFMUstate(void* c, void* state, char bytes[], size_t size) { return (void)c, memcpy(bytes, state, size), OK; }
EXPORT Status fmi2DeSerializeFMUstate(void* c, const char bytes[], size_t size, void** state) {
  if (*state == NULL) *state = malloc(sizeof(Model));
  return (void)c, memcpy(*state, bytes, size), OK;
}

EXPORT Status fmi2EnterEventMode(void* c) { return (void)c, OK; }
EXPORT Status fmi2EnterContinuousTimeMode(void* c) { return (void)c, OK; }
EXPORT Status fmi2NewDiscreteStates(void* c, EventInfo* info) {
  happen(M);
  update(M);
  *info = (EventInfo){0, M->terminate, 0, 1, M->next >= 0.0, M->next};
  return OK;
}
EXPORT Status fmi2CompletedIntegratorStep(void* c, int b, int* event, int* terminate) { return (void)c, (void)b, *event = *terminate = 0, OK; }
EXPORT Status fmi2SetTime(void* c, double t) { return M->t = t, OK; }
EXPORT Status fmi2SetContinuousStates(void* c, const double x[], size_t n) { return memcpy(M->r, x, n * sizeof(double)), OK; }
EXPORT Status fmi2GetContinuousStates(void* c, double x[], size_t n) { return memcpy(x, M->r, n * sizeof(double)), OK; }
EXPORT Status fmi2GetDerivatives(void* c, double x[], size_t n) {
  if (FAILS(M)) return fail(c);
  return update(M), memcpy(x, M->r + NX, n * sizeof(double)), OK;
}
EXPORT Status fmi2GetEventIndicators(void* c, double z[], size_t n) { return (void)n, indicators(M, z), OK; }
EXPORT Status fmi2GetNominalsOfContinuousStates(void* c, double x[], size_t n) {
  (void)c;
  for (size_t k = 0; k < n; ++k) x[k] = 1.0;
  return OK;
}
EXPORT Status fmi2SetRealInputDerivatives(void* c, const unsigned r[], size_t n, const int order[], const double v[]) {
  (void)order;
  for (size_t k = 0; k < n; ++k) ((Instance*)c)->rates[r[k]] = v[k];
  return OK;
}
EXPORT Status fmi2DoStep(void* c, double t, double h, int b) {
  (void)b;
  Instance* of = c;
  of->m.t = t;
  const int pieces = 20; /* inputs go along their rates */
  for (int p = 0; p < pieces; ++p) {
    double inputs[16];
    memcpy(inputs, of->m.r, sizeof inputs);
    for (int k = 0; k < 16; ++k)
      if (of->rates[k] != 0.0) of->m.r[k] += of->rates[k] * h / pieces / 2.0;
    advance(&of->m, t + h * (p + 1) / pieces);
    for (int k = 0; k < 16; ++k)
      if (of->rates[k] != 0.0) of->m.r[k] = inputs[k] + of->rates[k] * h / pieces;
  }
  memset(of->rates, 0, sizeof of->rates);
  return of->m.terminate || FAILS(M) ? fail(c) : OK;
}
