// Work on the streams of the emulated driver: done at once or, under NMN_EMULATOR_LATE, as late as events
// and waits allow, so that a missing one shows as wrong data; or kept for a graph that is being captured.
// Time is counted in pieces of work, a microsecond each: what is chosen for its speed is the same in every run.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace emulator {

typedef std::function<int()> Work;  // returns a CUresult, or pending

// pending is what work returns that has to wait for other ranks of the program: it is tried again.
const int pending = -2;

typedef std::vector<Work> Graph;

struct Stream {
  bool late = false;
  bool busy = false;         // its first work is being done
  void *context = nullptr;   // that it was made in
  std::deque<Work> queue;    // what has been put off
  Graph *capture = nullptr;  // where work goes instead of being done
};

struct Event {
  Stream *on = nullptr;
  uint64_t recorded = 0, happened = 0;  // numbers of the latest record that was enqueued and that was done
  uint64_t at = 0;                      // how many pieces of work had been done when it happened
};

// What a kernel or work that was put off has failed with: every later call returns it.
extern int broken;

// openDevice makes a context; closeDevice gives one back.
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

// These do what was put off: of one stream, up to an event, and of all streams of the current context. They return
// broken. Work that waits for other ranks is waited for, in a Call.
int finish(Stream *stream);
int finish(const Event *event);
int finishContext();

// settle does all work that does not wait for other ranks, of all streams, and returns whether nothing is
// left.
bool settle();

// drive does work of a stream until something is reached, or until it is stuck.
void drive(Stream *stream, const std::function<bool()> &reached);

// await waits until something has come, in a Call; wake has those look again who wait.
void await(const std::function<bool()> &come);
void wake();

// Call is one entry into the driver: one at a time. code is what it must return at once unless it is 0:
// broken, or what is planned.
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
