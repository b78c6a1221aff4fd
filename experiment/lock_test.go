package experiment

import (
	"errors"
	"testing"

	"nmn/recipe"
	"nmn/run"
)

// tinyGrid is an experiment of stage 1 on a few scenes.
func tinyGrid(t *testing.T) *Grid {
	t.Helper()
	c, err := run.Preset(run.ScenesPreset, run.Quick)
	if err != nil {
		t.Fatal(err)
	}
	c.Data.TrainSize, c.Data.ValidationSize, c.Data.TestSize = 24, 0, 8
	c.Net.Width, c.Train.Stage1Epochs, c.Run.Device = .5, 1, "cpu"
	g := New(c, t.TempDir())
	g.Arms, g.Chosen = []recipe.Name{recipe.Stage1}, true
	if err := g.Resolve(); err != nil {
		t.Fatal(err)
	}
	return &g
}

func TestRun_LeavesAFolderAloneThatIsBeingWritten(t *testing.T) {
	g := tinyGrid(t)
	s, err := run.Open(t.Context(), g.Config, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	release, err := s.Lock(t.Context(), g.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Run(t.Context(), s); !errors.Is(err, run.ErrLocked) {
		t.Errorf("while another process writes the folder: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Run(t.Context(), s); err != nil {
		t.Errorf("after it has ended: %v", err)
	}
}
