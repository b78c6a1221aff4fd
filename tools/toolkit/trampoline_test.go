package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const declarations = `
typedef struct CUctx_st *CUcontext;
typedef CUresult (*cuCallback)(int);
CUresult cuInit(unsigned int Flags);
CUresult cuMemFree_v2(CUdeviceptr dptr);
extern CUresult
 cuMemAlloc_v2 (CUdeviceptr *dptr, size_t bytesize);
CUresult cuMemFree_v2(CUdeviceptr dptr);
size_t cudnnGetVersion(void);
const char *cudnnGetErrorString(cudnnStatus_t status);
void cudnnGetLastErrorString(char *message, size_t max_size);
cudnnStatus_t cudnnCreate(cudnnHandle_t *handle);
`

func TestParse_ListsFunctionsOnce(t *testing.T) {
	for i, want := range []string{
		"cuInit CUresult, cuMemAlloc_v2 CUresult, cuMemFree_v2 CUresult",
		"cudnnCreate cudnnStatus_t, cudnnGetErrorString const char *, cudnnGetLastErrorString void, cudnnGetVersion size_t",
	} {
		var got []string
		for _, f := range libraries[i].parse([]byte(declarations)) {
			got = append(got, f.name+" "+f.returns)
		}
		if list := strings.Join(got, ", "); list != want {
			t.Errorf("%s: %s, want %s", libraries[i].name, list, want)
		}
	}
}

// The program below calls through the trampolines before and after their slots are filled.
const caller = `
#include <stdio.h>
#include <stdint.h>
#include <string.h>
extern const struct { const char *name; void **slot; } nmn_cuda_slots[], nmn_cudnn_slots[];
extern int cuInit(unsigned), nmn_real_cuInit(unsigned), cuMemAlloc_v2(double, long, const char *, int, int, int, int, double);
extern size_t cudnnGetVersion(void);
extern const char *cudnnGetErrorString(int);
static int init(unsigned flags) { return flags + 40; }
static int many(double a, long b, const char *c, int d, int e, int f, int g, double h) {
  return (int)a + b + strlen(c) + d + e + f + g + (int)h;
}
int main(void) {
  printf("%d %d %d %zu %s\n", cuInit(0), nmn_real_cuInit(0), cuMemAlloc_v2(0, 0, "", 0, 0, 0, 0, 0), cudnnGetVersion(), cudnnGetErrorString(0));
  for (int i = 0; nmn_cuda_slots[i].name; i++) {
    if (!strcmp(nmn_cuda_slots[i].name, "cuInit")) *nmn_cuda_slots[i].slot = (void *)init;
    if (!strcmp(nmn_cuda_slots[i].name, "cuMemAlloc_v2")) *nmn_cuda_slots[i].slot = (void *)many;
  }
  printf("%d %d %d\n", cuInit(2), nmn_real_cuInit(2), cuMemAlloc_v2(1.5, 2, "abc", 4, 5, 6, 7, 8.5));
  return nmn_cudnn_slots[0].name == NULL;
}
`

func TestTrampolines_PassEverythingOn(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("the trampolines were not compiled: no C compiler")
	}
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	sources := map[string][]byte{"main.c": []byte(caller)}
	for _, l := range libraries {
		sources[l.name+".c"] = l.trampolines(l.parse([]byte(declarations)))
	}
	command := []string{"-Wall", "-Werror", "-o", path("program")}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if err := os.WriteFile(path(name), sources[name], 0o666); err != nil {
			t.Fatal(err)
		}
		command = append(command, path(name))
	}
	if out, err := exec.Command(cc, command...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := exec.Command(path("program")).Output()
	want := "0 801 801 0 the library is not open\n0 42 36\n"
	if err != nil || string(got) != want {
		t.Errorf("the program wrote %q, %v, want %q", got, err, want)
	}
}

func TestDigest_KnowsContentsAndNames(t *testing.T) {
	base := map[string][]byte{"a": []byte("1"), "b": []byte("2")}
	for name, other := range map[string]map[string][]byte{
		"content": {"a": []byte("1"), "b": []byte("3")},
		"name":    {"a": []byte("1"), "c": []byte("2")},
		"border":  {"a": []byte("12"), "b": []byte("")},
	} {
		if digest(base) == digest(other) {
			t.Errorf("another %s gives the same digest", name)
		}
	}
	if digest(base) != digest(map[string][]byte{"b": []byte("2"), "a": []byte("1")}) {
		t.Error("equal files give different digests")
	}
}
