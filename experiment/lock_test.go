package experiment

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"nmn/recipe"
	"nmn/run"
)

// tinyGrid is an experiment of stage 1 on a few scenes.
func tinyGrid(t *testing.T) *Grid {
	t.Helper()
	c, err := run.Preset(run.ScenesPreset, run.Quick)
	must(t, err)
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 24, 0, 8
	c.Net.Width, c.Train.Stage1Epochs, c.Run.Device = .5, 1, "cpu"
	g := New(c, t.TempDir())
	g.Arms, g.Chosen = []recipe.Name{recipe.Stage1}, true
	must(t, g.Resolve())
	return &g
}

func TestRun_LeavesAFolderAloneThatIsBeingWritten(t *testing.T) {
	g := tinyGrid(t)
	s, err := run.Open(t.Context(), g.Config, run.Options{})
	must(t, err)
	defer s.Close()
	release, err := s.Ranks.Lock(t.Context(), g.Dir)
	must(t, err)
	if _, err := g.Run(t.Context(), s); !errors.Is(err, run.ErrLocked) {
		t.Errorf("while another process writes the folder: %v", err)
	}
	must(t, release())
	if _, err := g.Run(t.Context(), s); err != nil {
		t.Errorf("after it has ended: %v", err)
	}
}

// A process may be killed once its run is complete, and before it has removed its lock. The next one does, without
// training anything. A lock that is held stays.
func TestRunTask_RemovesTheLockOfADeadProcess(t *testing.T) {
	g := tinyGrid(t)
	s := open(t, g, untold)
	task, _, err := g.RunTask(t.Context(), s, 0)
	must(t, err)
	again := func() {
		t.Helper()
		if _, reused, err := g.RunTask(t.Context(), s, 0); err != nil || !reused {
			t.Errorf("reused %t (%v)", reused, err)
		}
	}
	release, err := s.Ranks.Lock(t.Context(), task.Dir)
	must(t, err)
	held, err := filepath.Glob(filepath.Join(task.Dir, "*.lock"))
	if err != nil || len(held) != 1 {
		t.Skipf("no lock here: %q (%v)", held, err)
	}
	content, err := os.ReadFile(held[0])
	must(t, err)
	again()
	if _, err := os.Stat(held[0]); err != nil {
		t.Errorf("a lock that is held: %v", err)
	}
	must(t, release())
	must(t, os.WriteFile(held[0], content, 0o666))
	again()
	if _, err := os.Stat(held[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a lock that a dead process has left: %v, want none", err)
	}
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
