// Work on the streams of the emulated driver. It is done at once or, under NMN_EMULATOR_LATE, as late as
// events and waits allow, so that a missing one shows as wrong data. Or it is kept for a graph that is being
// captured. Time is counted in pieces of work, a microsecond each, so that choices by speed are equal in
// every run.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace emulator {

typedef std::function<int()> Work;  // returns a CUresult, or pending

// pending is returned by work that has to wait for other ranks of the program. It is tried again.
const int pending = -2;

typedef std::vector<Work> Graph;

struct Stream {
  bool late = false;
  bool busy = false;         // its first work is being done
  void *context = nullptr;   // that it was made in
  std::deque<Work> queue;    // delayed work
  Graph *capture = nullptr;  // receives work instead of running it
};

struct Event {
  Stream *on = nullptr;
  uint64_t recorded = 0, happened = 0;  // numbers of the latest record that was enqueued and that was done
  uint64_t at = 0;                      // how many pieces of work had been done when it happened
};

// The error of a kernel or of delayed work: every later call returns it.
extern int broken;

// openDevice makes a context. closeDevice frees one.
void *openDevice();
void closeDevice();
void breakDevice(int code);  // noticed by another call, until its context is given back
void enterContext(void *context);
void *currentContext();

Stream *makeStream();
void closeStream(Stream *stream);
int enqueue(void *stream, Work work);
int record(Event *event, Stream *stream);
int wait(Stream *stream, Event *event);
bool happened(const Event *event);

// These do delayed work: of one stream, up to an event, and of all streams of the current context. They
// return broken. They wait for work that waits for other ranks, in a Call.
int finish(Stream *stream);
int finish(const Event *event);
int finishContext();

// settle does all work that does not wait for other ranks, of all streams, and returns whether nothing is
// left.
bool settle();

// drive does work of a stream until something is reached, or until it is stuck.
void drive(Stream *stream, const std::function<bool()> &reached);

// await waits for a condition, in a Call. wake makes waiting calls check theirs again.
void await(const std::function<bool()> &come);
void wake();

// Call is one entry into the driver: one at a time. If code is not 0, the call must return it at once:
// broken, or a planned error.
struct Call {
  std::lock_guard<std::recursive_mutex> lock;
  int code;
  explicit Call(const char *name);
};

// planned writes a name to the file in NMN_EMULATOR_LOG, if set. It returns the code if this is the call in
// NMN_EMULATOR_FAIL="NAME COUNT CODE": number COUNT, from 1, of the calls of NAME since the variable was set.
// Otherwise it returns 0. The name "kernel" stands for kernels when they run, also in graphs.
int planned(const char *name);

}  // namespace emulator
