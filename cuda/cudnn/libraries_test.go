//go:build cuda

package cudnn

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tests of plans with each further cuDNN that tools/toolkit pins. A process opens one library, so each runs
// in a separate process.
func TestLibraries_HavePlans(t *testing.T) {
	if onCard() || os.Getenv(LibraryVariable) != "" {
		t.Skip("the library to test is given")
	}
	if testing.Short() {
		t.Skip("takes half a minute for each library")
	}
	pinned, err := filepath.Glob("../../tools/toolkit/cudnn-*.txt")
	if err != nil {
		t.Fatal(err)
	}
	toolkit := filepath.Dir(filepath.Dir(os.Getenv("CUDNN_HOME")))
	missing := 0
	for _, list := range pinned {
		name := strings.TrimSuffix(filepath.Base(list), ".txt")
		library := filepath.Join(toolkit, name, "nvidia/cudnn/lib", libraryName)
		if _, err := os.Stat(library); err != nil {
			missing++
			continue
		}
		t.Run(name, func(t *testing.T) { testPlansOf(t, library) })
	}
	if missing > 0 || len(pinned) == 0 {
		t.Skipf("plans were not checked with %d of %d further libraries: go run ./tools/toolkit install-later",
			missing, len(pinned))
	}
}

func testPlansOf(t *testing.T, library string) {
	log := filepath.Join(t.TempDir(), "log")
	c := exec.Command(os.Args[0], "-test.short", "-test.v", "-test.run", "^Test(H100|Restore|Describe|Plans_BadShapes)")
	c.Env = append(os.Environ(), LibraryVariable+"="+library, "CUDNN_LOGLEVEL_DBG=2", "CUDNN_LOGDEST_DBG="+log)
	out, err := c.CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("--- SKIP")) {
		t.Fatalf("%v\n%s", err, out)
	}
	counts := regexp.MustCompile(`cuDNN (\d+): .*`).FindAllSubmatch(out, -1)
	if len(counts) == 0 {
		t.Fatalf("the tests of plans count no passes:\n%s", out)
	}
	for _, m := range counts {
		t.Logf("%s", m[0])
	}
	reasons, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	wants := bytes.HasPrefix(counts[0][1], []byte("919"))
	if lacks := bytes.Contains(reasons, []byte("No GPC available")); lacks != wants {
		t.Errorf("cuDNN %s misses the GPCs of a described card: %v, want %v", counts[0][1], lacks, wants)
	}
}
