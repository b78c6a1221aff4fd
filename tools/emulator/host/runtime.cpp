// Threads of a block as fibers, their barriers and shuffles, and the order in which they run.
#include "runtime.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

// The section of all __shared__ variables. It is weak, because there may be none.
extern "C" __attribute__((weak)) char __start_nmn_shared[], __stop_nmn_shared[];

namespace emulator {

const Place *place;

namespace {

const size_t stackBytes = 128 << 10;

// A fiber is a stack with a place to continue.
#if defined(__x86_64__)
// Saves the registers that a call preserves and continues on another stack, without the two system calls of
// swapcontext.
extern "C" void nmn_switch(void **save, void *load);
asm(".text\n.globl nmn_switch\n.hidden nmn_switch\n.type nmn_switch,@function\nnmn_switch:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
    "mov %rsp,(%rdi)\nmov %rsi,%rsp\n"
    "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");
struct Fiber {
  void *stackPointer = nullptr;
  void start(char *stack, void (*entry)()) {
    void **top = reinterpret_cast<void **>((reinterpret_cast<uintptr_t>(stack) + stackBytes) & ~uintptr_t(15));
    *--top = nullptr;
    *--top = reinterpret_cast<void *>(entry);
    stackPointer = top - 6;
  }
};
void change(Fiber &from, Fiber &to) { nmn_switch(&from.stackPointer, to.stackPointer); }
#else
struct Fiber {
  ucontext_t context;
  void start(char *stack, void (*entry)()) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = stackBytes;
    context.uc_link = nullptr;
    makecontext(&context, entry, 0);
  }
};
void change(Fiber &from, Fiber &to) { swapcontext(&from.context, &to.context); }
#endif

enum State { ready, atBarrier, atWarp, ended };

struct Thread {
  Fiber fiber;
  std::unique_ptr<char[]> stack;
  Place where;
  State state;
  const char *file;  // source place of its wait
  int line;
  unsigned mask;       // of lanes that it waits for
  unsigned exchanges;  // made so far: the mailbox of the next one is exchanges mod 2
};

// Mailbox holds the values that the lanes of a warp exchange. Two of them are used in turn: no lane can be
// two exchanges ahead of a lane that still has to read.
struct Warp {
  uint64_t mail[2][32];
};

std::map<std::string, Kernel> &kernels() {
  static std::map<std::string, Kernel> all;
  return all;
}

std::vector<Thread> threads;  // kept from launch to launch for their stacks
std::vector<Warp> warps;
Fiber scheduler;
unsigned running, count;  // the thread that runs, and threads of the block
bool any[2];              // predicates brought to this barrier and to the next
unsigned barriers;        // passed so far
Body body;
void **arguments;
std::string fault;

bool reversed() {
  const char *order = getenv("NMN_EMULATOR_ORDER");
  return order && !strcmp(order, "reverse");
}

void yield(State s, const char *file, int line) {
  Thread &t = threads[running];
  t.state = s, t.file = file, t.line = line;
  change(t.fiber, scheduler);
}

void enter() {
  body(arguments);
  yield(ended, nullptr, 0);
}

void prepare(uint3 block, dim3 grid, dim3 size) {
  for (unsigned i = 0; i < count; i++) {
    Thread &t = threads[i];
    t.where = {{i % size.x, i / size.x % size.y, i / size.x / size.y}, block, size, grid};
    t.state = ready, t.exchanges = 0;
    t.fiber.start(t.stack.get(), enter);
  }
  any[0] = any[1] = false, barriers = 0;
  if (__start_nmn_shared) memset(__start_nmn_shared, 0xff, __stop_nmn_shared - __start_nmn_shared);
}

void resume(unsigned i) {
  running = i;
  place = &threads[i].where;
  change(scheduler, threads[i].fiber);
}

// release lets the lanes of a warp go on whose whole mask waits at the same exchange.
bool release(unsigned first, unsigned end) {
  unsigned waiting = 0;
  for (unsigned i = first; i < end; i++) waiting |= (threads[i].state == atWarp) << (i - first);
  bool some = false;
  for (unsigned i = first; i < end; i++) {
    Thread &t = threads[i];
    if (t.state != atWarp || (t.mask & ~waiting)) continue;
    bool together = true;
    for (unsigned j = first; j < end; j++) {
      if (!(t.mask >> (j - first) & 1)) continue;
      together = together && threads[j].mask == t.mask && threads[j].line == t.line && threads[j].file == t.file;
    }
    if (!together) continue;
    for (unsigned j = first; j < end; j++) {
      if (t.mask >> (j - first) & 1) threads[j].state = ready;
    }
    some = true;
  }
  return some;
}

void runWarp(unsigned first, unsigned end, bool backwards) {
  do {
    for (unsigned k = first; k < end; k++) {
      const unsigned i = backwards ? first + (end - 1 - k) : k;
      if (threads[i].state == ready) resume(i);
    }
  } while (release(first, end));
}

std::string stuck(const char *what) {
  std::string text = what;
  for (unsigned i = 0; i < count; i++) {
    const Thread &t = threads[i];
    if (t.state == ended) continue;
    text += ": thread " + std::to_string(i) + " waits at " + t.file + ":" + std::to_string(t.line);
    break;
  }
  return text;
}

// passBarrier lets the block continue when all of its threads that have not ended wait at one barrier.
bool passBarrier() {
  const Thread *first = nullptr;
  for (unsigned i = 0; i < count; i++) {
    Thread &t = threads[i];
    if (t.state == ended) continue;
    if (t.state != atBarrier) {
      fault = stuck("lanes of a warp wait for others that do not come");
      return false;
    }
    if (!first) first = &t;
    if (t.line != first->line || strcmp(t.file, first->file)) {
      fault = stuck("threads of a block wait at different barriers");
      return false;
    }
  }
  if (!first) return false;  // all have ended
  for (unsigned i = 0; i < count; i++) {
    if (threads[i].state == atBarrier) threads[i].state = ready;
  }
  barriers++;
  any[barriers % 2] = false;  // of the next barrier; all threads have read it
  return true;
}

void runBlock(bool backwards) {
  const unsigned all = (count + 31) / 32;
  do {
    for (unsigned k = 0; k < all; k++) {
      const unsigned warp = backwards ? all - 1 - k : k;
      runWarp(warp * 32, std::min(warp * 32 + 32, count), backwards);
    }
  } while (passBarrier());
}

}  // namespace

unsigned lane() { return running % 32; }

bool barrier(bool predicate, const char *file, int line) {
  const unsigned turn = barriers % 2;
  any[turn] = any[turn] || predicate;
  yield(atBarrier, file, line);
  return any[turn];
}

uint64_t exchange(unsigned mask, uint64_t value, unsigned from, const char *file, int line) {
  Thread &t = threads[running];
  const unsigned warp = running / 32, self = running % 32, turn = t.exchanges++ % 2;
  if (!(mask >> self & 1) || !(mask >> from & 1)) {
    if (fault.empty()) fault = std::string("a shuffle reads a lane outside of its mask at ") + file + ":" + std::to_string(line);
    from = self;
  }
  warps[warp].mail[turn][self] = value;
  t.mask = mask;
  yield(atWarp, file, line);
  return warps[warp].mail[turn][from];
}

void add(const char *name, Body body, unsigned arguments, unsigned largestBlock) {
  kernels()[name] = {body, arguments, largestBlock};
}

const Kernel *find(const std::string &name) {
  auto at = kernels().find(name);
  return at == kernels().end() ? nullptr : &at->second;
}

std::string run(const Kernel &kernel, dim3 grid, dim3 size, void **given) {
  count = size.x * size.y * size.z;
  if (threads.size() < count) {
    const size_t had = threads.size();
    threads.resize(count);
    for (size_t i = had; i < count; i++) threads[i].stack.reset(new char[stackBytes]);
  }
  warps.resize((count + 31) / 32);
  body = kernel.body, arguments = given;
  fault.clear();
  const bool backwards = reversed();
  const uint64_t blocks = uint64_t(grid.x) * grid.y * grid.z;
  for (uint64_t k = 0; k < blocks && fault.empty(); k++) {
    const uint64_t i = backwards ? blocks - 1 - k : k;
    prepare({unsigned(i % grid.x), unsigned(i / grid.x % grid.y), unsigned(i / grid.x / grid.y)}, grid, size);
    runBlock(backwards);
  }
  return fault;
}

}  // namespace emulator
