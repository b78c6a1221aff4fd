//go:build cuda

package fakedriver

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The program below prints the results of calls that cuDNN makes and package cuda does not.
const caller = `
#include <stdio.h>
#include <stddef.h>
typedef struct { int version, devices, capability, init, marks, eager; unsigned flags; size_t memory; } fake_config;
void fake_reset(fake_config);
int cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *), cuCtxGetCurrent(void **);
int cuCtxPushCurrent(void *), cuCtxPopCurrent(void **), cuCtxGetLimit(size_t *, int);
int cuStreamCreate(void **, unsigned), cuStreamGetCtx(void *, void **);
int cuOccupancyMaxPotentialClusterSize(int *, void *, void *);
static void *primary, *got, *stream;
static int at(void *context) { cuCtxGetCurrent(&got); return got == context; }
static void show(long value) { printf(" %ld", value); } /* one a statement: C orders no arguments */
int main(void) {
  size_t limit = 0;
  int blocks = 0;
  fake_reset((fake_config){.devices = 1, .capability = 80, .memory = 1 << 20});
  printf("old card"); show(cuOccupancyMaxPotentialClusterSize(&blocks, 0, 0));
  fake_reset((fake_config){.devices = 1, .capability = 90, .memory = 1 << 20});
  printf("\ncluster"); show(cuOccupancyMaxPotentialClusterSize(&blocks, 0, 0)); show(blocks);
  printf("\nno context"); show(cuCtxPopCurrent(&got)); show(cuCtxPushCurrent(&limit));
  show(cuCtxGetLimit(&limit, 0)); show(cuStreamGetCtx(0, &got));
  cuDevicePrimaryCtxRetain(&primary, 0);
  printf("\npush"); show(cuCtxPushCurrent(primary)); show(at(primary)); show(cuCtxPushCurrent(primary));
  printf("\nlimit"); show(cuCtxGetLimit(&limit, 0)); show(limit); show(cuCtxGetLimit(&limit, 99));
  cuStreamCreate(&stream, 0);
  printf("\nstream"); show(cuStreamGetCtx(stream, &got)); show(got == primary); show(cuStreamGetCtx(&limit, &got));
  got = 0;
  printf("\ndefault stream"); show(cuStreamGetCtx(0, &got)); show(got == primary);
  printf("\npop"); show(cuCtxPopCurrent(&got)); show(got == primary); show(at(primary));
  printf("\nset none"); show(cuCtxSetCurrent(0)); show(at(0)); show(cuCtxPopCurrent(&got));
  printf("\nset twice"); show(cuCtxSetCurrent(primary)); show(cuCtxSetCurrent(primary)); show(at(primary));
  printf("\npop"); show(cuCtxPopCurrent(&got)); show(at(0));
  printf("\n");
  return 0;
}
`

func TestDriver_KeepsAStackOfContextsForEachThread(t *testing.T) {
	folder := t.TempDir()
	library, err := Build(folder)
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("the driver was not compiled: no C compiler")
	}
	if err != nil {
		t.Fatal(err)
	}
	source, program := filepath.Join(folder, "main.c"), filepath.Join(folder, "main")
	if err := os.WriteFile(source, []byte(caller), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-Wall", "-Werror", "-o", program, source, library,
		"-Wl,-rpath,"+folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	const want = `old card 801
cluster 0 8
no context 201 201 201 201
push 0 1 0
limit 0 1024 215
stream 0 1 1
default stream 0 1
pop 0 1 1
set none 0 1 201
set twice 0 0 1
pop 0 1
`
	if string(got) != want {
		t.Errorf("the program wrote\n%swant\n%s", got, want)
	}
}
