//go:build cuda

package cuda

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// buildProfiler compiles a profiler's library.
func buildProfiler(t *testing.T, source string) string {
	t.Helper()
	library := filepath.Join(t.TempDir(), "libprofiler.so")
	out, err := exec.Command("cc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs a C compiler")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return library
}

func TestSections_AreRangesOfTheProfiler(t *testing.T) {
	library, log := buildProfiler(t, "testdata/profiler.c"), filepath.Join(t.TempDir(), "log")
	t.Setenv(profilerVariable, library)
	t.Setenv("FAKE_PROFILER_LOG", log)
	s, err := OpenSections()
	expect.OK(t, err)
	for _, name := range []string{"forward conv1_1", "forward conv1_2", "", "update", "forward conv1_1", "", ""} {
		s.Begin(name)
	}
	told, err := os.ReadFile(log)
	expect.OK(t, err)
	if want := "forward conv1_1\nend\nforward conv1_2\nend\nupdate\nend\nforward conv1_1\nend\n"; string(told) != want {
		t.Errorf("the profiler received\n%swant\n%s", told, want)
	}
	allocations := testing.AllocsPerRun(10, func() { s.Begin("update"); s.Begin("") })
	if allocations != 0 {
		t.Errorf("%v allocations for a section", allocations)
	}
}

func TestSections_WithoutAProfilerDoNothing(t *testing.T) {
	t.Setenv(profilerVariable, "")
	s, err := OpenSections()
	expect.OK(t, err)
	if s != nil {
		t.Fatal("there is no profiler")
	}
	s.Begin("forward")
	s.Begin("")
}

func TestSections_TellWhyAProfilerCannotBeOpened(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.c")
	expect.OK(t, os.WriteFile(empty, nil, 0o600))
	refusing := filepath.Join(t.TempDir(), "refusing.c")
	expect.OK(t, os.WriteFile(refusing, []byte("int InitializeInjectionNvtx2(void *t) { return t == 0; }"), 0o600))
	for path, want := range map[string]string{
		"/no/such/library.so":      "/no/such/library.so",
		buildProfiler(t, empty):    "no InitializeInjectionNvtx2",
		buildProfiler(t, refusing): "refuses to start",
	} {
		if err := openProfiler(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(),
			profilerVariable) {
			t.Errorf("%s: %v, want one with %q", path, err, want)
		}
	}
}
