//go:build cgo && (mpi || mpich)

/* The thread that makes all MPI calls of a rank. It is no goroutine's business while it serves: with one processor for
   each rank, a goroutine that polls would wait for the computing one to give the processor away. */

#define _GNU_SOURCE
#include "engine.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "sum.h"

/* Seconds. While others are waited for, polls are a share of what was waited apart, so that the processor is left to
   whoever computes; while data moves, polls are what moves it. */
#define SPIN 20e-6
#define MOVING 5e-3
#define NAP(waited) ((waited) / 16 < 500e-6 ? (waited) / 16 : 500e-6)

enum { ROLL_TAG = 1, ASK_TAG, HERE_TAG };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void nap(double seconds) {
  struct timespec t = {0, (long)(seconds * 1e9)};
  nanosleep(&t, NULL);
}

static int over(engine *e, int end, const char *why) {
  e->end = end;
  snprintf(e->why, sizeof e->why, "%s", why);
  return 0;
}

/* ok reports whether an MPI call went well; if not, the group is over. */
static int ok(engine *e, int code) {
  if (code == MPI_SUCCESS) return 1;
  char why[MPI_MAX_ERROR_STRING + 1] = {0};
  int length = 0;
  MPI_Error_string(code, why, &length);
  return over(e, BROKEN, why);
}

engine *engine_new(double timeout, int told, int64_t piece) {
  engine *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  e->timeout = timeout;
  e->told = told;
  e->piece = piece;
  e->room = 64;
  e->jobs = calloc(e->room, sizeof *e->jobs);
  pthread_mutex_init(&e->mutex, NULL);
  pthread_cond_init(&e->posted, NULL);
  return e->jobs ? e : NULL;
}

/* engine_open makes what a group needs, behind MPI's own opening. All ranks do so at once. */
int engine_open(engine *e) {
#ifdef __linux__
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL); /* or naps are 50 microseconds longer */
#endif
  MPI_Comm host;
  if (!ok(e, MPI_Comm_dup(MPI_COMM_WORLD, &e->comm)) ||
      !ok(e, MPI_Comm_set_errhandler(e->comm, MPI_ERRORS_RETURN)) ||
      !ok(e, MPI_Comm_rank(e->comm, &e->rank)) || !ok(e, MPI_Comm_size(e->comm, &e->size)) ||
      !ok(e, MPI_Comm_split_type(e->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host)) ||
      !ok(e, MPI_Comm_rank(host, &e->local)) || !ok(e, MPI_Comm_size(host, &e->local_size)) ||
      !ok(e, MPI_Comm_free(&host)))
    return 0;
  int n = e->size;
  e->heads = calloc(n, sizeof *e->heads);
  e->roll = calloc(2 * n, sizeof *e->roll);
  e->came = calloc(n, 1);
  e->counts = calloc(4 * n, sizeof *e->counts);
  e->scratch = malloc(4 * e->piece);
  e->wired = malloc(2 * e->piece);
  if (!e->heads || !e->roll || !e->came || !e->counts || !e->scratch || !e->wired)
    return over(e, BROKEN, "no memory for the buffers of the group");
  e->starts = e->counts + n;
  e->from_counts = e->counts + 2 * n;
  e->from_starts = e->counts + 3 * n;
  for (int k = 0, i = 0; k < n; k++) {
    if (k == e->rank) continue;
    if (!ok(e, MPI_Recv_init(e->heads + k, sizeof(head), MPI_BYTE, k, ROLL_TAG, e->comm, &e->roll[i])) ||
        !ok(e, MPI_Send_init(&e->own, sizeof(head), MPI_BYTE, k, ROLL_TAG, e->comm, &e->roll[n - 1 + i])))
      return 0;
    i++;
  }
  return 1;
}

/* answer tells those that ask that this rank's process runs. */
static void answer(engine *e) {
  int asked = 0;
  MPI_Status s;
  while (MPI_Iprobe(MPI_ANY_SOURCE, ASK_TAG, e->comm, &asked, &s) == MPI_SUCCESS && asked) {
    MPI_Recv(NULL, 0, MPI_BYTE, s.MPI_SOURCE, ASK_TAG, e->comm, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, s.MPI_SOURCE, HERE_TAG, e->comm);
  }
}

/* ask finds out which of the ranks that are missing have a process that runs. */
static void ask(engine *e) {
  double patience = e->timeout < 1 ? 1 : e->timeout < 5 ? e->timeout : 5;
  int silent = 0;
  for (int k = 0; k < e->size; k++) {
    MPI_Request request;
    if (e->came[k] == CAME || MPI_Isend(NULL, 0, MPI_BYTE, k, ASK_TAG, e->comm, &request) != MPI_SUCCESS) continue;
    MPI_Request_free(&request);
    silent++;
  }
  for (double begun = now(); silent > 0 && now() - begun < patience; nap(1e-3)) {
    int here = 0;
    MPI_Status s;
    answer(e);
    while (MPI_Iprobe(MPI_ANY_SOURCE, HERE_TAG, e->comm, &here, &s) == MPI_SUCCESS && here) {
      MPI_Recv(NULL, 0, MPI_BYTE, s.MPI_SOURCE, HERE_TAG, e->comm, MPI_STATUS_IGNORE);
      e->came[s.MPI_SOURCE] = RUNS;
      silent--;
    }
  }
}

/* late ends the group because a rank has not come, or because what all have begun does not end. */
static int late(engine *e, int moving) {
  for (int k = 0, i = 0; k < e->size; k++) {
    int came = k == e->rank;
    if (!came && !moving) { /* a rank that stopped behind its own message does not take ours */
      int taken = 0;
      MPI_Request_get_status(e->roll[i], &came, MPI_STATUS_IGNORE);
      MPI_Request_get_status(e->roll[e->size - 1 + i], &taken, MPI_STATUS_IGNORE);
      came = came && taken;
      i++;
    }
    e->came[k] = came ? CAME : SILENT;
  }
  ask(e);
  e->moving = moving;
  e->end = LATE;
  return 0;
}

/* await waits until requests have ended: of a roll call, or of data that move. */
static int await(engine *e, int n, MPI_Request *requests, int moving) {
  double waited = 0;
  for (double last = now();;) {
    int done = 0;
    if (!ok(e, MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE))) return 0;
    double t = now(), step = t - last;
    last = t;
    /* While the whole job was stopped nobody was late. */
    waited += step < 1 ? step : 1;
    if (done) break;
    if (e->timeout > 0 && waited > e->timeout) return late(e, moving);
    if (waited < SPIN) continue;
    if (moving && waited < MOVING)
      sched_yield();
    else {
      nap(NAP(waited));
      answer(e);
    }
  }
  if (!moving) e->waited += waited;
  return 1;
}

static const char *name_of(int kind) {
  static const char *names[] = {"sum", "gather", "broadcast", "close"};
  return kind >= SUM && kind <= CLOSE ? names[kind] : "call of another version";
}

/* fit reports whether the calls of all ranks belong together; all ranks find the same. */
static int fit(engine *e) {
  head *first = e->heads;
  for (int k = 1; k < e->size; k++) {
    head *h = e->heads + k;
    char why[256];
    if (h->kind != first->kind || h->call != first->call)
      snprintf(why, sizeof why, "rank 0 is at a %s, rank %d at a %s", name_of(first->kind), k, name_of(h->kind));
    else if (h->kind == SUM && h->n != first->n)
      snprintf(why, sizeof why, "rank 0 adds %lld numbers, rank %d %lld", (long long)first->n, k, (long long)h->n);
    else if (h->kind == SUM && h->wire != first->wire)
      snprintf(why, sizeof why, "rank 0 sums on wire %d, rank %d on wire %d", first->wire, k, h->wire);
    else if (h->kind == BROADCAST && h->n != first->n)
      snprintf(why, sizeof why, "rank 0 sends %lld bytes, rank %d takes %lld", (long long)first->n, k, (long long)h->n);
    else
      continue;
    return over(e, MISFIT, why);
  }
  return 1;
}

/* carried reports whether a job's data travel with the roll call. */
static int carried(const job *j) {
  return (j->kind == SUM && j->n * 4 <= CARRIED) || (j->kind == GATHER && j->n <= CARRIED);
}

/* roll waits until all ranks have come to a job. */
static int roll(engine *e, const job *j) {
  e->own.call = e->call++;
  e->own.kind = j->kind;
  e->own.wire = j->wire;
  e->own.n = j->n;
  if (carried(j) && j->n > 0) memcpy(e->own.carried, j->data, j->kind == SUM ? 4 * j->n : j->n);
  e->heads[e->rank] = e->own;
  int n = 2 * (e->size - 1);
  return ok(e, MPI_Startall(n, e->roll)) && await(e, n, e->roll, 0) && fit(e);
}

/* share gives each rank its part of n numbers: counts and starts of all, and where what the others send of this
   rank's part lies in scratch. */
static int share(engine *e, int64_t n) {
  for (int k = 0; k < e->size; k++) {
    e->starts[k] = (int)(n * k / e->size);
    e->counts[k] = (int)(n * (k + 1) / e->size) - e->starts[k];
  }
  int own = e->counts[e->rank];
  for (int k = 0, at = 0; k < e->size; k++) {
    e->from_counts[k] = k == e->rank ? 0 : own;
    e->from_starts[k] = at;
    at += e->from_counts[k];
  }
  return own;
}

/* sum_piece has each rank add its part, in the order of the ranks, and gives all parts to all: so every rank has the
   same bits, however MPI moves them. */
static int sum_piece(engine *e, float *x, int64_t n, int wire) {
  int own = share(e, n), start = e->starts[e->rank];
  MPI_Datatype type = wire == FLOAT32 ? MPI_FLOAT : MPI_UINT16_T;
  void *data = wire == FLOAT32 ? (void *)x : e->wired;
  MPI_Request request;
  if (wire == BFLOAT16) narrow(e->wired, x, n);
  e->counts[e->rank] = 0;
  int moved = ok(e, MPI_Ialltoallv(data, e->counts, e->starts, type, e->scratch, e->from_counts, e->from_starts, type,
                                   e->comm, &request)) &&
              await(e, 1, &request, 1);
  e->counts[e->rank] = own;
  if (!moved) return 0;
  if (wire == FLOAT32)
    add_float32(x + start, e->scratch, own, e->rank, e->size);
  else
    add_bfloat16((uint16_t *)e->wired + start, e->scratch, own, e->rank, e->size);
  if (!ok(e, MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, e->counts, e->starts, type, e->comm,
                             &request)) ||
      !await(e, 1, &request, 1))
    return 0;
  if (wire == BFLOAT16) widen(x, e->wired, n);
  return 1;
}

static int sum(engine *e, const job *j) {
  float *x = j->data;
  if (carried(j)) {
    for (int64_t i = 0; i < j->n; i++) {
      float total = 0;
      for (int k = 0; k < e->size; k++) {
        float v;
        memcpy(&v, e->heads[k].carried + 4 * i, 4);
        total += j->wire == FLOAT32 ? v : widened(narrowed(v));
      }
      x[i] = j->wire == FLOAT32 ? total : widened(narrowed(total));
    }
    return 1;
  }
  for (int64_t at = 0; at < j->n; at += e->piece)
    if (!sum_piece(e, x + at, j->n - at < e->piece ? j->n - at : e->piece, j->wire)) return 0;
  return 1;
}

static int gather(engine *e, const job *j) {
  int64_t total = 0, longest = 0, at = 0;
  for (int k = 0; k < e->size; k++) {
    total += e->heads[k].n;
    if (e->heads[k].n > longest) longest = e->heads[k].n;
  }
  if (total > e->gathered_room) {
    free(e->gathered);
    e->gathered = malloc(total);
    e->gathered_room = e->gathered ? total : 0;
    if (!e->gathered) return over(e, BROKEN, "no memory for what is gathered");
  }
  /* Who sends more than a roll call carries sends all of it in turns, at most a part of scratch each. */
  int64_t turn = 4 * e->piece / e->size;
  for (int64_t done = 0; longest > CARRIED && done < longest; done += turn) {
    int64_t place = 0;
    for (int k = 0; k < e->size; k++) {
      int64_t left = e->heads[k].n - done;
      e->counts[k] = (int)(left < 0 ? 0 : left < turn ? left : turn);
      e->starts[k] = (int)(k * turn);
    }
    MPI_Request request;
    const char *own = e->counts[e->rank] ? (char *)j->data + done : NULL;
    if (!ok(e, MPI_Iallgatherv(own, e->counts[e->rank], MPI_BYTE, e->scratch, e->counts, e->starts, MPI_BYTE, e->comm,
                               &request)) ||
        !await(e, 1, &request, 1))
      return 0;
    for (int k = 0; k < e->size; k++) {
      if (e->counts[k]) memcpy(e->gathered + place + done, (char *)e->scratch + e->starts[k], e->counts[k]);
      place += e->heads[k].n;
    }
  }
  for (int k = 0; longest <= CARRIED && k < e->size; k++) {
    if (e->heads[k].n) memcpy(e->gathered + at, e->heads[k].carried, e->heads[k].n);
    at += e->heads[k].n;
  }
  return 1;
}

static int broadcast(engine *e, const job *j) {
  int64_t most = 4 * e->piece;
  for (int64_t at = 0; at < j->n; at += most) {
    MPI_Request request;
    int n = (int)(j->n - at < most ? j->n - at : most);
    if (!ok(e, MPI_Ibcast((char *)j->data + at, n, MPI_BYTE, 0, e->comm, &request)) || !await(e, 1, &request, 1))
      return 0;
  }
  return 1;
}

static void run(engine *e, const job *j) {
  if (e->end != GOES_ON || j->kind == FLUSH || !roll(e, j)) return;
  switch (j->kind) {
    case SUM: sum(e, j); break;
    case GATHER: gather(e, j); break;
    case BROADCAST: broadcast(e, j); break;
  }
}

/* idle waits for a job, for a while: others may ask whether this rank runs. */
static void idle(engine *e) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += 100000000;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  if (pthread_cond_timedwait(&e->posted, &e->mutex, &t) == 0) return;
  pthread_mutex_unlock(&e->mutex);
  answer(e);
  pthread_mutex_lock(&e->mutex);
}

/* engine_serve does what is posted, until the group is closed. */
void engine_serve(engine *e) {
  for (job j = {.kind = FLUSH}; j.kind != CLOSE;) {
    pthread_mutex_lock(&e->mutex);
    while (e->waiting == 0) idle(e);
    j = e->jobs[e->first];
    pthread_mutex_unlock(&e->mutex);
    run(e, &j);
    pthread_mutex_lock(&e->mutex);
    e->first = (e->first + 1) % e->room;
    e->waiting--;
    pthread_mutex_unlock(&e->mutex);
    /* A pipe takes one byte always: at most one answer is waited for. */
    while (j.kind != SUM && j.kind != CLOSE && write(e->told, "", 1) != 1)
      if (errno != EINTR) abort();
  }
}

/* engine_post leaves a job to the engine's thread. Each but a SUM and a CLOSE is answered by a byte. */
int engine_post(engine *e, int kind, int wire, void *data, int64_t n) {
  pthread_mutex_lock(&e->mutex);
  if (e->waiting == e->room) {
    job *more = calloc(2 * e->room, sizeof *more);
    if (!more) {
      pthread_mutex_unlock(&e->mutex);
      return 0;
    }
    for (int i = 0; i < e->waiting; i++) more[i] = e->jobs[(e->first + i) % e->room];
    free(e->jobs);
    e->jobs = more;
    e->first = 0;
    e->room *= 2;
  }
  e->jobs[(e->first + e->waiting++) % e->room] = (job){kind, wire, data, n};
  pthread_cond_signal(&e->posted);
  pthread_mutex_unlock(&e->mutex);
  return 1;
}

void engine_abort(engine *e) { MPI_Abort(e->comm, 1); }
