package folder

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/lock"
)

func TestLock_KeepsOthersOutAndNamesTheirProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs", "new")
	release, err := Lock(t.Context(), dir, slog.New(slog.DiscardHandler))
	must(t, err)
	_, err = Lock(t.Context(), dir, slog.New(slog.DiscardHandler))
	want := fmt.Sprintf("%s is being written by process %d on ", dir, os.Getpid())
	if !errors.Is(err, lock.ErrHeld) || !strings.HasPrefix(err.Error(), want) ||
		!strings.Contains(err.Error(), "give another `run_dir`") {
		t.Errorf("a folder that is being written: %v, want %s...", err, want)
	}
	below, err := Lock(t.Context(), filepath.Join(dir, "stage1"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Errorf("the folder of a stage: %v, want it to have a lock of its own", err)
	} else if err := below(); err != nil {
		t.Error(err)
	}
	must(t, release())
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v is left (%v), want the folder of the stage alone", entries, err)
	}
}
