//go:build cuda

package cudnn

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOpenLibrary_NamedPlaceIsTheOnlyOne(t *testing.T) {
	missing := filepath.Join(t.TempDir(), libraryName)
	t.Setenv(LibraryVariable, missing)
	if err := openLibrary(); !errors.Is(err, ErrNoLibrary) || !strings.Contains(err.Error(), missing) {
		t.Errorf("error %v, want ErrNoLibrary with the path", err)
	}
	t.Setenv(LibraryVariable, filepath.Dir(missing))
	if got := places.Candidates(os.Getenv); len(got) != 1 || got[0] != missing {
		t.Errorf("a folder gives %v, want the library in it", got)
	}
	if err := os.WriteFile(missing, []byte("no library"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := openLibrary(); !errors.Is(err, ErrNoLibrary) {
		t.Errorf("a file that is no library gives %v, want ErrNoLibrary", err)
	}
}

func TestCandidates_IncludePythonsPackages(t *testing.T) {
	environment, home := t.TempDir(), t.TempDir()
	var want []string
	for _, path := range []string{
		filepath.Join(environment, "lib/python3.12/site-packages/nvidia/cudnn/lib", libraryName),
		filepath.Join(environment, "lib/python3.12/site-packages/torch/lib", libraryName),
		filepath.Join(home, ".local/lib/python3.11/site-packages/nvidia/cudnn/lib", libraryName),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		want = append(want, path)
	}
	t.Setenv("VIRTUAL_ENV", environment)
	t.Setenv("HOME", home)
	t.Setenv(LibraryVariable, "")
	list := places.Candidates(os.Getenv)
	last := 0
	for _, path := range want {
		i := slices.Index(list, path)
		if i <= last {
			t.Errorf("%s is at %d of %v, want it after %d", path, i, list, last)
		}
		last = i
	}
	if list[0] != libraryName {
		t.Errorf("the first place is %s, want what the linker finds", list[0])
	}
}
