package session

import (
	"errors"
	"testing"

	"nmn/run"
)

func TestSession_LeavesAFolderAloneThatIsBeingWritten(t *testing.T) {
	s, _ := openSession(t, sceneConfig(t))
	dir := t.TempDir()
	release, err := run.LockFolder(t.Context(), dir, s.Log)
	check(t, err)
	if _, err := s.Train(t.Context(), dir); !errors.Is(err, run.ErrLocked) {
		t.Errorf("while another process writes the folder: %v", err)
	}
	check(t, release())
}
