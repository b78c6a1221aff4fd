// The order of work: streams, events, and failures that are planned by the environment.
#include "enqueue.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

namespace emulator {

int broken;

namespace {

std::recursive_mutex guard;
bool opened;    // and no stream made yet
uint64_t done;  // pieces of work
std::set<Stream *> streams;

int perform(const Work &work) { return done++, work(); }

// step does the first work of a queue.
bool step(Stream *s) {
  if (s->queue.empty()) return false;
  const Work work = std::move(s->queue.front());
  s->queue.pop_front();
  if (broken) return true;
  if (const int code = perform(work)) broken = code;
  return true;
}

const char *variable(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

}  // namespace

void openDevice() { opened = true; }

Stream *makeStream() {
  Stream *s = new Stream;
  const std::string late = variable("NMN_EMULATOR_LATE");
  s->late = late == "all" || (late == "first" && opened);
  opened = false;
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
  if (!s || !s->late) return perform(work);
  s->queue.push_back(std::move(work));
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
  const Event until = *event;  // a later record does not move what was waited for
  return enqueue(stream, [=] {
    while (until.on && event->happened < until.recorded && step(until.on)) {}
    return broken;
  });
}

int finish(Stream *stream) {
  while (step(stream)) {}
  return broken;
}

int finish(const Event *event) {
  while (event->on && event->happened < event->recorded && step(event->on)) {}
  return broken;
}

int finishAll() {
  for (Stream *s : streams) finish(s);
  return broken;
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
