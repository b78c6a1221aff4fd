package nmn_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What only some programs need does not weigh on a program that trains on features.
func TestSizes_FeaturesLinkNoMetricsTablesAndPlots(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./examples/train").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		for _, left := range []string{"github.com/prometheus/", "github.com/parquet-go/", "github.com/jdkato/prose/",
			"gonum.org/v1/plot", "net/http"} {
			if strings.HasPrefix(pkg, left) {
				t.Errorf("examples/train links %s (go list -deps ./examples/train)", pkg)
			}
		}
	}
}

func TestSizes_OfPrograms(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("links two programs; the limits are those of linux/amd64")
	}
	for program, most := range map[string]int64{"./cmd/nmn": 45e6, "./examples/train": 25e6} {
		file := filepath.Join(t.TempDir(), "program")
		build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-o", file, program)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > most {
			t.Errorf("%s has %d bytes, the limit is %d; docs/guide/library.md lists what weighs what", program, info.Size(), most)
		}
	}
}

// A program or data set that was committed by mistake stays in every clone.
func TestSizes_OfFilesInTheRepository(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("not a clone: ", err)
	}
	const most = 2 << 20
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() > most {
			t.Errorf("%s has %d bytes; files of the repository have at most %d", name, info.Size(), most)
		}
	}
}
