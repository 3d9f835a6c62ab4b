/* Small models for FMUs of "another maker": fixture_fmi2.c and fixture_fmi3.c give them the two interfaces. MODEL chooses one.
   A model is numbers by value reference; states and their rates are among them. */
#ifndef FIXTURE_MODELS_H
#define FIXTURE_MODELS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BALL 1
#define DAHLQUIST 2
#define VAN_DER_POL 3
#define STAIR 4
#define FEEDTHROUGH 5
#define DC_MOTOR 6
#define CONTROLLER 7
#define FAILING 8
#define PENDULUM 9

typedef struct {
  double t;
  double r[32];  /* reals */
  int64_t i[16]; /* whole numbers */
  int b[4];      /* Booleans */
  char s[2][64]; /* texts */
  double next;   /* time event; < 0: none */
  int terminate;
} Model;

/* r[0..NX-1] are states, r[NX..2 NX-1] their rates. */
#if MODEL == BALL /* h, v; parameters g = r[4], e = r[5]; output h = r[6], bounces = i[0] */
#define NX 2
#define NZ 1
static void start(Model* m) { m->r[0] = 1.0, m->r[1] = 0.0, m->r[4] = 9.81, m->r[5] = 0.7; }
static void update(Model* m) { m->r[2] = m->r[1], m->r[3] = -m->r[4], m->r[6] = m->r[0]; }
static void indicators(Model* m, double* z) { z[0] = m->r[0]; }
static void happen(Model* m) {
  if (m->r[0] <= 0.0 && m->r[1] < 0.0) m->r[0] = 0.0, m->r[1] *= -m->r[5], m->i[0] += 1;
}

#elif MODEL == DAHLQUIST /* x; parameter k = r[2]; input u = r[3]; output y = r[4] */
#define NX 1
#define NZ 0
static void start(Model* m) { m->r[0] = 1.0, m->r[2] = 1.0; }
static void update(Model* m) { m->r[1] = m->r[3] - m->r[2] * m->r[0], m->r[4] = m->r[0]; }
static void indicators(Model* m, double* z) { (void)m, (void)z; }
static void happen(Model* m) { (void)m; }

#elif MODEL == VAN_DER_POL /* x0, x1; parameter mu = r[4]; outputs r[5], r[6] */
#define NX 2
#define NZ 0
static void start(Model* m) { m->r[0] = 2.0, m->r[4] = 1.0; }
static void update(Model* m) {
  m->r[2] = m->r[1], m->r[3] = m->r[4] * (1.0 - m->r[0] * m->r[0]) * m->r[1] - m->r[0];
  m->r[5] = m->r[0], m->r[6] = m->r[1];
}
static void indicators(Model* m, double* z) { (void)m, (void)z; }
static void happen(Model* m) { (void)m; }

#elif MODEL == STAIR /* counter = i[0], at every 0.2 s */
#define NX 0
#define NZ 0
static void start(Model* m) { m->i[0] = 1, m->next = 0.2; }
static void update(Model* m) { (void)m; }
static void indicators(Model* m, double* z) { (void)m, (void)z; }
static void happen(Model* m) {
  if (m->next >= 0.0 && m->t >= m->next - 1e-12) {
    m->i[0] += 1;
    m->next = 0.2 * (double)m->i[0];
    if (m->i[0] >= 10) m->terminate = 1;
  }
}

#elif MODEL == FEEDTHROUGH /* real r[0] -> r[1] = r[0] + r[2]; discrete real r[3] -> r[4]; i[k] -> i[k + 8]; b[0] -> b[1]; s */
#define NX 0
#define NZ 0
static void start(Model* m) { strcpy(m->s[0], "text"); }
static void update(Model* m) {
  m->r[1] = m->r[0] + m->r[2], m->r[4] = m->r[3];
  for (int k = 0; k < 8; ++k) m->i[k + 8] = m->i[k];
  m->b[1] = m->b[0];
  memcpy(m->s[1], m->s[0], sizeof m->s[0]);
}
static void indicators(Model* m, double* z) { (void)m, (void)z; }
static void happen(Model* m) { (void)m; }

#elif MODEL == DC_MOTOR /* current i; R = r[2], L = r[3], k = r[4]; inputs voltage r[5], speed r[6]; output torque r[7] */
#define NX 1
#define NZ 0
static void start(Model* m) { m->r[2] = 1.0, m->r[3] = 0.05, m->r[4] = 0.4; }
static void update(Model* m) {
  m->r[1] = (m->r[5] - m->r[2] * m->r[0] - m->r[4] * m->r[6]) / m->r[3];
  m->r[7] = m->r[4] * m->r[0];
}
static void indicators(Model* m, double* z) { (void)m, (void)z; }
static void happen(Model* m) { (void)m; }

#elif MODEL == CONTROLLER /* x = integral; inputs wanted r[2], speed r[3]; gains r[4], r[5]; output voltage r[6] */
#define NX 1
#define NZ 0
static void start(Model* m) { m->r[4] = 2.0, m->r[5] = 1.0; }
static void update(Model* m) { m->r[1] = m->r[2] - m->r[3], m->r[6] = m->r[4] * m->r[1] + m->r[5] * m->r[0]; }
static void indicators(Model* m, double* z) { (void)m, (void)z; }
static void happen(Model* m) { (void)m; }

#elif MODEL == FAILING /* as Dahlquist, but it cannot be evaluated after 0.5 s; FAILS is set by update() */
#define NX 1
#define NZ 0
#define FAILS(m) ((m)->t > 0.5)
static void start(Model* m) { m->r[0] = 1.0; }
static void update(Model* m) { m->r[1] = -m->r[0], m->r[4] = m->r[0]; }
static void indicators(Model* m, double* z) { (void)m, (void)z; }
static void happen(Model* m) { (void)m; }

#elif MODEL == PENDULUM /* a rod of 1 m and 1 kg on a hinge at (1, 0, 0); port at its end: forces r[4..9], motion r[10..28] */
#define NX 2
#define NZ 0
static void start(Model* m) { m->r[0] = 1.5707963267948966; }
static void update(Model* m) {
  const double c = cos(m->r[0]), s = sin(m->r[0]), w = m->r[1], *f = m->r + 4, *t = m->r + 7;
  double* y = m->r + 10;
  const double dw = 3.0 * (t[2] - s * f[0] + c * f[1] - 9.81 * c / 2.0);
  m->r[2] = w, m->r[3] = dw;
  const double motion[19] = {1.0 + c,
                             s,
                             0.0,
                             cos(m->r[0] / 2.0),
                             0.0,
                             0.0,
                             sin(m->r[0] / 2.0),
                             -w * s,
                             w * c,
                             0.0,
                             0.0,
                             0.0,
                             w,
                             -dw * s - w * w * c,
                             dw * c - w * w * s,
                             0.0,
                             0.0,
                             0.0,
                             dw};
  memcpy(y, motion, sizeof motion);
}
static void indicators(Model* m, double* z) { (void)m, (void)z; }
static void happen(Model* m) { (void)m; }
#endif

#ifndef FAILS
#define FAILS(m) 0
#endif

/* For co-simulation: short steps of Runge and Kutta, events where they are passed. */
static void advance(Model* m, double to) {
  const double h0 = 1e-3;
  while (m->t < to - 1e-12) {
    double h = to - m->t < h0 ? to - m->t : h0, x[NX + 1], k[4][NX + 1], t = m->t;
    if (m->next >= 0.0 && m->next > t && m->next < t + h) h = m->next - t;
    memcpy(x, m->r, NX * sizeof(double));
    for (int s = 0; s < 4; ++s) {
      const double by = s == 0 ? 0.0 : s == 3 ? h : h / 2.0;
      for (int j = 0; j < NX; ++j) m->r[j] = x[j] + (s == 0 ? 0.0 : by * k[s - 1][j]);
      m->t = t + by;
      update(m);
      memcpy(k[s], m->r + NX, NX * sizeof(double));
    }
    for (int j = 0; j < NX; ++j) m->r[j] = x[j] + h / 6.0 * (k[0][j] + 2.0 * k[1][j] + 2.0 * k[2][j] + k[3][j]);
    m->t = t + h;
    happen(m);
    update(m);
  }
  m->t = to;
}

#endif
