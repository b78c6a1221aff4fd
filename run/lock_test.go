package run

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"nmn/recipe"
	"nmn/train"
)

// A second process must not touch the folder of a run that is being written: it would delete the file that the first
// is writing aside.
func TestTrain_LeavesAFolderAloneThatIsBeingWritten(t *testing.T) {
	c := tiny(t)
	c.Arm = recipe.Star
	s := opened(t, c, Options{})
	for _, written := range []string{"", Stage1Folder} {
		dir := t.TempDir()
		release, err := s.Lock(filepath.Join(dir, written))
		if err != nil {
			t.Fatal(err)
		}
		aside := filepath.Join(dir, written, "."+ConfigFile+"123")
		if err := os.WriteFile(aside, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Train(t.Context(), dir); !errors.Is(err, ErrLocked) {
			t.Errorf("Train while %q is being written: %v", written, err)
		}
		if _, err := s.Resume(t.Context(), dir); !errors.Is(err, ErrLocked) {
			t.Errorf("Resume while %q is being written: %v", written, err)
		}
		if _, err := os.Stat(aside); err != nil {
			t.Errorf("what another process writes aside in %q: %v", written, err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
		if _, err := s.Resume(t.Context(), dir); err != nil {
			t.Errorf("after the other process has ended: %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, train.LastName)); err != nil {
			t.Error(err)
		}
	}
}
