// The order of work: streams, events, and failures that are planned by the environment.
#include "enqueue.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

namespace emulator {

int broken;

namespace {

std::recursive_mutex guard;
std::condition_variable_any moved;  // the event that stuck work waits for may have come
uint64_t done;                      // pieces of work
std::set<Stream *> streams;
bool advancing;

// A context is one opening of the device. Unlike a driver's, each opening has its own, so that ranks that are
// goroutines of one process do not wait for each other's streams.
struct Context {
  bool fresh = true;  // no stream was made yet
};
thread_local Context *current;
int opened;       // contexts that were not given back
Context *origin;  // in which the device was broken

int perform(const Work &work) {
  const int code = work();
  if (code != pending) done++;
  return code;
}

enum class Step { none, done, stuck };

// step does the first work of a queue, unless it has to wait for other ranks.
Step step(Stream *s) {
  if (s->queue.empty()) return Step::none;
  if (s->busy) return Step::stuck;
  if (!broken) {
    s->busy = true;
    const int code = perform(s->queue.front());
    s->busy = false;
    if (code == pending) return Step::stuck;
    if (code) broken = code, origin = static_cast<Context *>(s->context), moved.notify_all();
  }
  s->queue.pop_front();
  return Step::done;
}

// advance does the possible work of streams that are not late and whose work was stuck.
bool advance() {
  if (advancing) return false;
  advancing = true;
  bool any = false;
  for (bool again = true; again;) {
    again = false;
    for (Stream *s : streams) {
      while (!s->late && step(s) == Step::done) again = any = true;
    }
  }
  advancing = false;
  if (any) moved.notify_all();
  return any;
}

// until does work of a stream up to a condition. It waits if the condition depends on other ranks. The caller
// holds guard once.
template <class Reached>
int until(Stream *s, Reached reached) {
  while (!reached()) {
    const Step now = step(s);
    if (now == Step::none) break;
    if (now == Step::done || advance()) continue;
    moved.wait_for(guard, std::chrono::milliseconds(20));
  }
  advance();
  return broken;
}

const char *variable(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

}  // namespace

void *openDevice() {
  std::lock_guard<std::recursive_mutex> lock(guard);
  opened++;
  return new Context;
}

// Devices opened after the broken context work again. Others may have been open all the time.
void closeDevice() {
  if (--opened == 0 || current == origin) broken = 0, origin = nullptr;
}

void breakDevice(int code) { broken = code, origin = current; }

void enterContext(void *context) { current = static_cast<Context *>(context); }
void *currentContext() { return current; }

Stream *makeStream() {
  Stream *s = new Stream;
  const std::string late = variable("NMN_EMULATOR_LATE");
  s->context = current;
  s->late = late == "all" || (late == "first" && current && current->fresh);
  if (current) current->fresh = false;
  streams.insert(s);
  return s;
}

void closeStream(Stream *s) {
  finish(s);
  streams.erase(s);
  delete s;
}

int enqueue(void *stream, Work work) {
  std::lock_guard<std::recursive_mutex> lock(guard);
  Stream *s = static_cast<Stream *>(stream);
  if (s && s->capture) {
    s->capture->push_back(std::move(work));
    return 0;
  }
  if (!s) return perform(work);
  if (!s->late && s->queue.empty()) {
    const int code = perform(work);
    if (code != pending) return advance(), code;
  }
  s->queue.push_back(std::move(work));
  advance();
  return 0;
}

int record(Event *event, Stream *stream) {
  const uint64_t number = ++event->recorded;
  event->on = stream;
  return enqueue(stream, [=] {
    event->happened = number, event->at = done;
    return 0;
  });
}

int wait(Stream *stream, Event *event) {
  const Event until = *event;  // a later record does not change the awaited one
  return enqueue(stream, [=] {
    while (until.on && event->happened < until.recorded) {
      const Step now = step(until.on);
      if (now == Step::stuck) return pending;
      if (now == Step::none) break;
    }
    return broken;
  });
}

bool happened(const Event *event) { return event->happened >= event->recorded; }

void drive(Stream *s, const std::function<bool()> &reached) {
  while (!reached() && step(s) == Step::done) {}
}

void wake() { moved.notify_all(); }

void await(const std::function<bool()> &come) {
  while (!come()) moved.wait_for(guard, std::chrono::milliseconds(20));
}

int finish(Stream *stream) {
  return until(stream, [] { return false; });
}

int finish(const Event *event) {
  if (!event->on) return broken;
  return until(event->on, [=] { return happened(event); });
}

int finishContext() {
  const std::set<Stream *> all = streams;
  for (Stream *s : all) {
    if (s->context == current && streams.count(s)) finish(s);
  }
  return broken;
}

bool settle() {
  bool idle = true;
  for (Stream *s : streams) {
    while (step(s) == Step::done) {}
    idle = idle && s->queue.empty();
  }
  return idle;
}

Call::Call(const char *name) : lock(guard), code(broken) {
  const int plan = planned(name);
  if (!code) code = plan;
}

int planned(const char *name) {
  if (const char *path = variable("NMN_EMULATOR_LOG"); *path) {
    if (FILE *log = fopen(path, "a")) {
      fprintf(log, "%s\n", name);
      fclose(log);
    }
  }
  static std::string plan;
  static int count;
  const char *now = variable("NMN_EMULATOR_FAIL");
  if (plan != now) plan = now, count = 0;
  if (!*now) return 0;
  char which[64];
  int at = 0, code = 0;
  if (sscanf(now, "%63s %d %d", which, &at, &code) != 3 || strcmp(name, which)) return 0;
  return ++count == at ? code : 0;
}

}  // namespace emulator
