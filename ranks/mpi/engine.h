//go:build cgo && (mpi || mpich)

#ifndef NMN_GROUP_MPI_ENGINE_H
#define NMN_GROUP_MPI_ENGINE_H

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

/* What the ranks do together. The kinds up to CLOSE are calls: all ranks make them in the same order. */
enum kind { SUM, GATHER, BROADCAST, CLOSE, FLUSH };

enum wire { FLOAT32, BFLOAT16 };

/* Why a group is over. */
enum end { GOES_ON, MISFIT, LATE, BROKEN };

/* State of a rank when one is late: it waits here too, its process runs, or it does not answer. */
enum state { CAME, RUNS, SILENT };

/* Bytes sent with a roll call, so that a small gathering or sum needs no further message. */
#define CARRIED 224

/* head is the message that each rank sends every other at the start of a call. */
typedef struct {
  uint64_t call;
  int32_t kind, wire;
  int64_t n; /* numbers of a sum, bytes of the others */
  unsigned char carried[CARRIED];
} head;

typedef struct {
  int kind, wire;
  void *data;
  int64_t n;
} job;

/* engine makes the calls of one rank, on one thread, in the order in which they were posted. */
typedef struct {
  MPI_Comm comm;
  int rank, size, local, local_size;
  double timeout; /* seconds, 0 for none */
  int told;       /* a file descriptor that gets a byte for each job with an answer */

  pthread_mutex_t mutex;
  pthread_cond_t posted;
  job *jobs; /* a ring */
  int first, waiting, room;

  /* Of the engine's thread; read by others when it has answered. */
  uint64_t call;
  head own, *heads;
  MPI_Request *roll;  /* persistent: size-1 receives, size-1 sends */
  unsigned char *came; /* a state of each rank, where one was late */
  int *counts, *starts, *from_counts, *from_starts;
  int64_t piece; /* numbers that are summed at once; four times as many bytes are sent at once */
  void *scratch, *wired;
  unsigned char *gathered;
  int64_t gathered_room;
  double waited; /* seconds in which this rank waited for others to come */
  int end, moving;
  char why[512];
} engine;

engine *engine_new(double timeout, int told, int64_t piece);
int engine_open(engine *e);
void engine_serve(engine *e);
int engine_post(engine *e, int kind, int wire, void *data, int64_t n);
void engine_abort(engine *e);

#endif
