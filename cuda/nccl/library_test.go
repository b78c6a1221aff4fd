//go:build cuda

package nccl_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nmn/cuda"
	"nmn/cuda/nccl"
)

// again runs one test in its own process, in which the library was not opened before.
func again(t *testing.T, environment ...string) string {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), realVariable+"=1", cuda.DriverVariable+"=")
	command.Env = append(command.Env, environment...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}

// The real library answers without a card: layer.h declares its real interface.
func TestReal_VersionAndID(t *testing.T) {
	if os.Getenv(realVariable) == "" {
		if strings.Contains(again(t, nccl.LibraryVariable+"="+os.Getenv("NMN_TEST_LIBNCCL")), "SKIP") {
			t.Skip("no NCCL on this host")
		}
		return
	}
	first, err := nccl.NewID()
	if errors.Is(err, nccl.ErrNoLibrary) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	second, err := nccl.NewID()
	if err != nil || first == second {
		t.Errorf("two ids are equal, error %v", err)
	}
	if v := nccl.Version(); v < nccl.MinimumVersion {
		t.Errorf("version %d", v)
	}
	t.Logf("NCCL %s", nccl.FormatVersion(nccl.Version()))
	one, err1 := nccl.At("127.0.0.1:29511")
	two, err2 := nccl.At("127.0.0.1:29511")
	other, err3 := nccl.At("127.0.0.1:29512")
	if err := errors.Join(err1, err2, err3); err != nil || one != two || one == other {
		t.Errorf("ids of one address are equal: %v, of two: %v; error %v", one == two, one == other, err)
	}
	if _, err := nccl.At("nonsense"); err == nil {
		t.Error("nonsense is an address")
	}
}

func TestOpen_SaysWhatIsMissing(t *testing.T) {
	if os.Getenv(realVariable) == "" {
		again(t, nccl.LibraryVariable+"="+filepath.Join(t.TempDir(), "nothing"))
		return
	}
	err := nccl.Open()
	if !errors.Is(err, nccl.ErrNoLibrary) || !strings.Contains(err.Error(), "pip install nvidia-nccl-cu13") ||
		!strings.Contains(err.Error(), os.Getenv(nccl.LibraryVariable)) {
		t.Errorf("error %v, want ErrNoLibrary with the place and the cure", err)
	}
	if nccl.Version() != 0 {
		t.Errorf("version %d of nothing", nccl.Version())
	}
}

func TestOpen_RefusesWhatIsNoNCCL(t *testing.T) {
	if os.Getenv(realVariable) == "" {
		again(t, nccl.LibraryVariable+"=libm.so.6")
		return
	}
	if err := nccl.Open(); !errors.Is(err, nccl.ErrNoLibrary) || !strings.Contains(err.Error(), "lacks nccl") {
		t.Errorf("error %v, want ErrNoLibrary", err)
	}
}
