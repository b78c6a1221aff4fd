package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nmn/internal/expect"
)

func TestFatbin_WasCompiledFromTheseSources(t *testing.T) {
	hash := expect.Value(hashSources(kernelsFolder))(t)
	text := expect.Value(os.ReadFile(filepath.Join(kernelsFolder, stampName)))(t)
	if !strings.HasSuffix(string(text), "sources sha256 "+hash+"\n") {
		t.Errorf("the kernels have changed since they were compiled: go run ./tools/toolkit exec go run ./tools/launchgen "+
			"-fatbin\n%s", text)
	}
}

// The compiled kernels are checked: if the compiler is available, it gives equal bytes.
func TestFatbin_IsReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("compiling all kernels takes half a minute")
	}
	if _, err := exec.LookPath("nvcc"); err != nil {
		t.Skipf("no nvcc on the PATH: %v", err)
	}
	version := expect.Value(nvccVersion())(t)
	text := expect.Value(os.ReadFile(filepath.Join(kernelsFolder, stampName)))(t)
	if !strings.HasPrefix(string(text), "nvcc "+version+"\n") {
		t.Skipf("the kernels were compiled by another version than %s: %s", version, text)
	}
	// Another folder, so that no path of the machine can be among the bytes.
	folder := t.TempDir()
	expect.OK(t, os.CopyFS(folder, os.DirFS(kernelsFolder)))
	got := expect.Value(compile(folder))(t)
	want := expect.Value(os.ReadFile(filepath.Join(kernelsFolder, fatbinName)))(t)
	if !bytes.Equal(got, want) {
		t.Errorf("%s has %d bytes, its sources give other %d", fatbinName, len(want), len(got))
	}
}

// nvcc names the shared memory of a static function by a new number in each run, so that the module would
// differ from build to build. Such functions are therefore inline without being static.
func TestSources_StaticFunctionsHaveNoSharedMemory(t *testing.T) {
	function := regexp.MustCompile(`(?ms)^static __device__ [^;{]*\{\n.*?^\}`)
	names := expect.Value(sources(kernelsFolder))(t)
	functions := 0
	for _, name := range names {
		text := expect.Value(os.ReadFile(filepath.Join(kernelsFolder, name)))(t)
		for _, found := range function.FindAllString(string(text), -1) {
			functions++
			if strings.Contains(found, "__shared__") {
				head, _, _ := strings.Cut(found, "{")
				t.Errorf("%s: %s is static and has shared memory", name, head)
			}
		}
	}
	if functions < 20 {
		t.Errorf("found %d static functions in the sources of the kernels, which have dozens", functions)
	}
}
