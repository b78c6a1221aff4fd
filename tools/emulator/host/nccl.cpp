// A libnccl.so.2 whose ranks are goroutines of one program, each with its own streams on the emulated card,
// with the functions that package nccl calls. A collective is work on each rank's stream that is done when
// all ranks' streams have reached it. It is delayed like any other work, so that a missing event shows as
// wrong data. Sums are taken in the order of the ranks and, for bfloat16, rounded after each of them. Ranks
// whose calls differ receive an error, where NCCL would hang or return nonsense.
#include "enqueue.h"
#include "formats.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

namespace {

enum Result { success = 0, unhandledCuda = 1, internalError = 3, invalidArgument = 4, invalidUsage = 5, remoteError = 6 };
enum { typeByte = 1, typeFloat = 7, typeBFloat16 = 9, sum = 0 };
enum class Kind { reduce, broadcast, gather };

using emulator::Call;
using emulator::Stream;

struct ID {
  char internal[128];
};

size_t sizeOf(int type) { return type == typeFloat ? 4 : type == typeBFloat16 ? 2 : type == typeByte ? 1 : 0; }

// Part is one rank's input and output of a collective.
struct Part {
  Stream *stream = nullptr;
  const char *from = nullptr;
  char *to = nullptr;
  bool reached = false;  // the stream has come to it
};

struct Collective {
  Kind kind;
  size_t count;
  int type;
  bool same = true, done = false;
  std::vector<Part> parts;

  bool complete() const {
    for (const Part &p : parts) {
      if (!p.stream) return false;
    }
    return true;
  }

  void run() {
    const size_t bytes = count * sizeOf(type);
    std::vector<std::vector<char>> given;
    for (const Part &p : parts) given.emplace_back(p.from, p.from + (kind == Kind::broadcast && &p != &parts[0] ? 0 : bytes));
    if (kind == Kind::gather) {
      for (Part &p : parts) {
        for (size_t r = 0; r < parts.size(); r++) memcpy(p.to + r * bytes, given[r].data(), bytes);
      }
      return;
    }
    if (kind == Kind::reduce) {
      for (size_t r = 1; r < parts.size(); r++) add(given[0].data(), given[r].data());
    }
    for (Part &p : parts) memcpy(p.to, given[0].data(), bytes);
  }

  void add(char *to, const char *from) const {
    for (size_t i = 0; i < count; i++) {
      if (type == typeFloat) {
        reinterpret_cast<float *>(to)[i] += reinterpret_cast<const float *>(from)[i];
      } else {
        uint16_t &t = reinterpret_cast<uint16_t *>(to)[i];
        t = emulator::narrow(emulator::widen(t) + emulator::widen(reinterpret_cast<const uint16_t *>(from)[i]));
      }
    }
  }
};

// Clique is the shared state of the ranks of one id.
struct Clique {
  int ranks = 0, joined = 0;
  std::vector<bool> here, aborted;  // by rank
  int failed = success;  // the error that all ranks receive
  std::string why;
  std::map<uint64_t, std::shared_ptr<Collective>> open;  // by their numbers

  void fail(int code, const std::string &reason) {
    if (!failed) failed = code, why = reason;
    emulator::wake();
  }
};

struct Comm {
  std::shared_ptr<Clique> clique;
  int rank = 0;
  uint64_t next = 0;
};

std::map<std::string, std::shared_ptr<Clique>> cliques;
uint64_t ids;
std::string last;

// Operations between ncclGroupStart and ncclGroupEnd of a thread.
struct Pending {
  Comm *comm;
  Kind kind;
  Part part;
  size_t count;
  int type;
};
thread_local std::vector<Pending> group;
thread_local int depth;

int attempt(const std::shared_ptr<Clique> &clique, const std::shared_ptr<Collective> &c, int rank) {
  if (c->done || clique->aborted[rank]) return 0;  // until its own rank aborts it, a kernel waits
  if (clique->failed) return emulator::pending;
  if (!c->complete()) return emulator::pending;
  c->parts[rank].reached = true;
  for (Part &p : c->parts) {
    if (!p.reached) emulator::drive(p.stream, [&] { return p.reached || c->done; });
  }
  if (c->done) return 0;
  for (const Part &p : c->parts) {
    if (!p.reached) return emulator::pending;
  }
  c->run();
  c->done = true;
  emulator::wake();
  return 0;
}

int issue(const Pending &p) {
  const std::shared_ptr<Clique> clique = p.comm->clique;
  const int rank = p.comm->rank;
  const uint64_t number = p.comm->next++;
  std::shared_ptr<Collective> &c = clique->open[number];
  if (!c) c = std::make_shared<Collective>(Collective{p.kind, p.count, p.type, true, false, std::vector<Part>(clique->ranks)});
  if (c->kind != p.kind || c->count != p.count || c->type != p.type) {
    clique->fail(invalidUsage, "collective " + std::to_string(number) + " of rank " + std::to_string(rank) + " is another than those of other ranks");
  }
  c->parts[rank] = p.part;
  const std::shared_ptr<Collective> kept = c;
  if (c->complete()) clique->open.erase(number);
  emulator::wake();
  return emulator::enqueue(p.part.stream, [=] { return attempt(clique, kept, rank); }) ? unhandledCuda : success;
}

int put(Comm *comm, Kind kind, const void *from, void *to, size_t count, int type, void *stream) {
  if (!comm || !stream || !sizeOf(type) || (count && (!from || !to))) return last = "an argument is missing", invalidArgument;
  Part part;
  part.stream = static_cast<Stream *>(stream), part.from = static_cast<const char *>(from), part.to = static_cast<char *>(to);
  const Pending p{comm, kind, part, count, type};
  if (comm->clique->failed) return last = comm->clique->why, comm->clique->failed;
  if (depth) return group.push_back(p), success;
  return issue(p);
}

}  // namespace

extern "C" {

int ncclGetVersion(int *version) { return *version = 23007, success; }
const char *ncclGetErrorString(int code) { return code ? "error of the emulator's NCCL" : "no error"; }
const char *ncclGetLastError(void *) { return last.c_str(); }

int ncclGetUniqueId(ID *id) {
  Call call("ncclGetUniqueId");
  if (call.code) return call.code;
  memset(id, 0, sizeof *id);
  const char *address = getenv("NCCL_COMM_ID");
  snprintf(id->internal, sizeof id->internal, "%s", address && *address ? address : ("id " + std::to_string(++ids)).c_str());
  return success;
}

int ncclCommInitRank(Comm **comm, int ranks, ID id, int rank) {
  Call call("ncclCommInitRank");
  if (call.code) return last = "planned", call.code;
  if (ranks < 1 || rank < 0 || rank >= ranks) return last = "no such rank", invalidArgument;
  std::shared_ptr<Clique> &known = cliques[id.internal];
  if (!known) known = std::make_shared<Clique>(), known->ranks = ranks, known->here.resize(ranks), known->aborted.resize(ranks);
  const std::shared_ptr<Clique> clique = known;
  if (clique->ranks != ranks || clique->here[rank]) return last = "a rank comes twice, or with another number of ranks", invalidUsage;
  clique->here[rank] = true;
  if (++clique->joined == ranks) {
    cliques.erase(id.internal);  // the same address may be used again
    emulator::wake();
  } else {
    emulator::await([&] { return clique->joined == ranks; });
  }
  *comm = new Comm{clique, rank};
  return success;
}

int ncclCommDestroy(Comm *comm) {
  Call call("ncclCommDestroy");
  if (!comm) return invalidArgument;
  return delete comm, call.code;
}

int ncclCommAbort(Comm *comm) {
  Call call("ncclCommAbort");
  if (!comm) return invalidArgument;
  comm->clique->aborted[comm->rank] = true;
  comm->clique->fail(remoteError, "rank " + std::to_string(comm->rank) + " has aborted");
  return success;  // comm stays: another thread may be about to name it
}

int ncclCommGetAsyncError(Comm *comm, int *code) {
  Call call("ncclCommGetAsyncError");
  if (!comm) return invalidArgument;
  if (call.code && !comm->clique->failed && call.code != emulator::broken) comm->clique->fail(remoteError, "planned on rank " + std::to_string(comm->rank));
  *code = comm->clique->failed;
  if (*code) last = comm->clique->why;
  return success;
}

int ncclGroupStart(void) { return depth++, success; }

int ncclGroupEnd(void) {
  Call call("ncclGroupEnd");
  if (!depth) return invalidUsage;
  if (--depth) return success;
  std::vector<Pending> all;
  all.swap(group);
  if (call.code) return call.code;
  for (const Pending &p : all) {
    if (const int code = issue(p)) return code;
  }
  return success;
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, Comm *comm, void *stream) {
  Call call("ncclAllReduce");
  if (call.code) return call.code;
  if (op != sum || type == typeByte) return last = "only sums of numbers are there", invalidArgument;
  return put(comm, Kind::reduce, from, to, count, type, stream);
}

int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, Comm *comm, void *stream) {
  Call call("ncclBroadcast");
  if (call.code) return call.code;
  if (root != 0) return last = "only rank 0 broadcasts", invalidArgument;
  return put(comm, Kind::broadcast, from, to, count, type, stream);
}

int ncclAllGather(const void *from, void *to, size_t count, int type, Comm *comm, void *stream) {
  Call call("ncclAllGather");
  if (call.code) return call.code;
  return put(comm, Kind::gather, from, to, count, type, stream);
}

}  // extern "C"
