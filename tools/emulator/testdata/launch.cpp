// launch KERNEL BLOCKS: runs a kernel of threads.cu on the numbers 0.5, 1.5, ... and prints them.
#include "runtime.h"
#include <cstdio>
#include <cstdlib>

int main(int, char **arguments) {
  const emulator::Kernel *kernel = emulator::find(arguments[1]);
  if (!kernel) return puts("no such kernel"), 2;
  float numbers[64];
  for (int i = 0; i < 64; i++) numbers[i] = i + 0.5f;
  if (!strcmp(arguments[1], "count_blocks")) memset(numbers, 0, sizeof numbers);
  float *at = numbers;
  void *pointers[] = {&at};
  const std::string fault = emulator::run(*kernel, {unsigned(atoi(arguments[2])), 1, 1}, {64, 1, 1}, pointers);
  if (!fault.empty()) return puts(fault.c_str()), 1;
  if (!strcmp(arguments[1], "count_blocks")) return printf("%u\n", __float_as_uint(numbers[0])), 0;
  for (float x : numbers) printf("%g ", x);
}
