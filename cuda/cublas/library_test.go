//go:build cuda

package cublas

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nmn/cuda"
)

func TestCandidates_WhereTheLibraryIsLookedFor(t *testing.T) {
	home := t.TempDir()
	lib := filepath.Join(home, "lib64", "libcublasLt.so.12")
	if err := os.MkdirAll(filepath.Dir(lib), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lib, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		environment map[string]string
		want        []string
	}{
		"named": {map[string]string{LibraryVariable: "/x/liblt.so"}, []string{"/x/liblt.so"}},
		"named folder": {map[string]string{LibraryVariable: home}, []string{filepath.Join(home, "libcublasLt.so.13"),
			filepath.Join(home, "libcublasLt.so.12")}},
		"another driver": {map[string]string{cuda.DriverVariable: "/x/libcuda.so", "CUDA_HOME": home}, nil},
		"toolkit":        {map[string]string{"CUDA_HOME": home}, []string{"libcublasLt.so.13", "libcublasLt.so.12", lib}},
	} {
		got := places.Candidates(func(variable string) string { return c.environment[variable] })
		got = slices.DeleteFunc(got, func(path string) bool { return filepath.Dir(path) == "/usr/local/cuda/lib64" })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestOpenAt_SaysWhyAFileIsNoLibrary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libcublasLt.so.13")
	if err := os.WriteFile(path, []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := openAt(path); err == nil {
		t.Error("opened a text")
	}
	if err := openAt("libm.so.6"); err == nil {
		t.Error("took a library without the functions")
	}
	if Version() != 0 {
		t.Errorf("version %d of nothing", Version())
	}
}
