/* A fixture with the interface of FMI 3.0, written from the standard. */
#include "fixture_models.h"

typedef enum { OK, WARNING, DISCARD, ERROR_, FATAL } Status;
typedef void (*Logger)(void*, Status, const char*, const char*);
typedef struct {
  Model m;
  Logger log;
  void* environment;
} Instance;
#define EXPORT __attribute__((visibility("default")))
#define M (&((Instance*)c)->m)

static void* make(const char* token, const char* resources, void* environment, Logger log) {
  if (strcmp(token, GUID) != 0 || resources[strlen(resources) - 1] != '/') {
    log(environment, ERROR_, "logStatusError", "the token is wrong");
    return NULL;
  }
  Instance* made = calloc(1, sizeof(Instance));
  made->log = log, made->environment = environment;
  made->m.next = -1.0;
  start(&made->m);
  update(&made->m);
  return made;
}
static Status fail(void* c) {
  Instance* of = c;
  of->log(of->environment, ERROR_, "logStatusError", "no value at this time");
  return ERROR_;
}

EXPORT const char* fmi3GetVersion(void) { return "3.0"; }
EXPORT void* fmi3InstantiateModelExchange(const char* name, const char* token, const char* resources, bool visible, bool logging,
                                          void* environment, Logger log) {
  return (void)name, (void)visible, (void)logging, make(token, resources, environment, log);
}
EXPORT void* fmi3InstantiateCoSimulation(const char* name, const char* token, const char* resources, bool visible, bool logging,
                                         bool events, bool early, const uint32_t list[], size_t n, void* environment, Logger log,
                                         void* update_callback) {
  (void)name, (void)visible, (void)logging, (void)events, (void)early, (void)list, (void)n, (void)update_callback;
  return make(token, resources, environment, log);
}
EXPORT void fmi3FreeInstance(void* c) { free(c); }
EXPORT Status fmi3SetDebugLogging(void* c, bool on, size_t n, const char* const list[]) { return (void)c, (void)on, (void)n, (void)list, OK; }
EXPORT Status fmi3EnterInitializationMode(void* c, bool a, double tolerance, double t, bool b, double stop) {
  return (void)a, (void)tolerance, (void)b, (void)stop, M->t = t, OK;
}
EXPORT Status fmi3ExitInitializationMode(void* c) { return update(M), OK; }
EXPORT Status fmi3EnterEventMode(void* c) { return (void)c, OK; }
EXPORT Status fmi3EnterContinuousTimeMode(void* c) { return (void)c, OK; }
EXPORT Status fmi3Terminate(void* c) { return (void)c, OK; }
EXPORT Status fmi3Reset(void* c) { return start(M), OK; }

/* Value references: reals from 0, whole numbers from 100, Booleans from 200, texts from 300. */
#define ACCESS(Name, type, field, first)                                                                     \
  EXPORT Status fmi3Get##Name(void* c, const uint32_t r[], size_t n, type v[], size_t count) {               \
    if (FAILS(M)) return fail(c);                                                                            \
    if (count != n) return ERROR_;                                                                           \
    update(M);                                                                                               \
    for (size_t k = 0; k < n; ++k) v[k] = (type)M->field[r[k] - first];                                      \
    return OK;                                                                                               \
  }                                                                                                          \
  EXPORT Status fmi3Set##Name(void* c, const uint32_t r[], size_t n, const type v[], size_t count) {         \
    if (count != n) return ERROR_;                                                                           \
    for (size_t k = 0; k < n; ++k) M->field[r[k] - first] = v[k];                                            \
    return OK;                                                                                               \
  }
ACCESS(Float64, double, r, 0)
ACCESS(Float32, float, r, 0)
ACCESS(Int8, int8_t, i, 100)
ACCESS(UInt8, uint8_t, i, 100)
ACCESS(Int16, int16_t, i, 100)
ACCESS(UInt16, uint16_t, i, 100)
ACCESS(Int32, int32_t, i, 100)
ACCESS(UInt32, uint32_t, i, 100)
ACCESS(Int64, int64_t, i, 100)
ACCESS(UInt64, uint64_t, i, 100)
ACCESS(Boolean, bool, b, 200)
EXPORT Status fmi3GetString(void* c, const uint32_t r[], size_t n, const char* v[], size_t count) {
  (void)count;
  update(M);
  for (size_t k = 0; k < n; ++k) v[k] = M->s[r[k] - 300];
  return OK;
}
EXPORT Status fmi3SetString(void* c, const uint32_t r[], size_t n, const char* const v[], size_t count) {
  (void)count;
  for (size_t k = 0; k < n; ++k) snprintf(M->s[r[k] - 300], sizeof M->s[0], "%s", v[k]);
  return OK;
}

EXPORT Status fmi3GetFMUState(void* c, void** state) {
  if (*state == NULL) *state = malloc(sizeof(Model));
  return memcpy(*state, M, sizeof(Model)), OK;
}
EXPORT Status fmi3SetFMUState(void* c, void* state) { return memcpy(M, state, sizeof(Model)), OK; }
EXPORT Status fmi3FreeFMUState(void* c, void** state) { return (void)c, free(*state), *state = NULL, OK; }
EXPORT Status fmi3SerializedFMUStateSize(void* c, void* state, size_t* size) { return (void)c, (void)state, *size = sizeof(Model), OK; }
EXPORT Status fmi3SerializeFMUState(void* c, void* state, uint8_t bytes[], size_t size) { return (void)c, memcpy(bytes, state, size), OK; }
EXPORT Status fmi3DeserializeFMUState(void* c, const uint8_t bytes[], size_t size, void** state) {
  if (*state == NULL) *state = malloc(sizeof(Model));
  return (void)c, memcpy(*state, bytes, size), OK;
}

EXPORT Status fmi3UpdateDiscreteStates(void* c, bool* again, bool* terminate, bool* nominals, bool* values, bool* has_next, double* next) {
  happen(M);
  update(M);
  *again = *nominals = false, *values = true, *terminate = M->terminate != 0, *has_next = M->next >= 0.0, *next = M->next;
  return OK;
}
EXPORT Status fmi3CompletedIntegratorStep(void* c, bool b, bool* event, bool* terminate) { return (void)c, (void)b, *event = *terminate = false, OK; }
EXPORT Status fmi3SetTime(void* c, double t) { return M->t = t, OK; }
EXPORT Status fmi3SetContinuousStates(void* c, const double x[], size_t n) { return memcpy(M->r, x, n * sizeof(double)), OK; }
EXPORT Status fmi3GetContinuousStates(void* c, double x[], size_t n) { return memcpy(x, M->r, n * sizeof(double)), OK; }
EXPORT Status fmi3GetContinuousStateDerivatives(void* c, double x[], size_t n) {
  if (FAILS(M)) return fail(c);
  return update(M), memcpy(x, M->r + NX, n * sizeof(double)), OK;
}
EXPORT Status fmi3GetEventIndicators(void* c, double z[], size_t n) { return (void)n, indicators(M, z), OK; }
EXPORT Status fmi3GetNominalsOfContinuousStates(void* c, double x[], size_t n) {
  (void)c;
  for (size_t k = 0; k < n; ++k) x[k] = 1.0;
  return OK;
}
EXPORT Status fmi3DoStep(void* c, double t, double h, bool b, bool* event, bool* terminate, bool* early, double* reached) {
  (void)b;
  M->t = t;
  advance(M, t + h);
  *event = *early = false, *terminate = M->terminate != 0, *reached = t + h;
  return FAILS(M) ? fail(c) : OK;
}
