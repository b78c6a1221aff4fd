package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/lock"
	"nmn/internal/setting"
)

func TestCheck_RefusesToOverwriteFilesOfOthers(t *testing.T) {
	dir := t.TempDir()
	kind := Kind{Config: "config.yaml", Writes: func(name string) bool { return name == "report.html" }}
	none := fmt.Errorf("no configuration: %w", fs.ErrNotExist)
	same := Found{
		Written: func() bool { return true },
		Changed: func() (key, was, is string) { return "", "", "" },
	}
	for _, name := range []string{LockFile, "notes.txt", ".report.html123"} {
		expect.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
	}
	if err := Check(dir, kind, none, same); err != nil {
		t.Errorf("a folder of other files, none of which is written: %v", err)
	}
	if err := Check(filepath.Join(dir, "new"), kind, none, same); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
	report := filepath.Join(dir, "report.html")
	expect.OK(t, os.WriteFile(report, nil, 0o666))
	var mistake *setting.Error
	if err := Check(dir, kind, none, same); !errors.As(err, &mistake) || mistake.Key != "run_dir" ||
		!strings.HasPrefix(err.Error(), report+" would be overwritten") {
		t.Errorf("a report of somebody: %v", err)
	}
	if err := Check(dir, kind, nil, same); err != nil {
		t.Errorf("the report of a run: %v", err)
	}
	foreign := Found{Written: func() bool { return false }}
	if err := Check(dir, kind, nil, foreign); !errors.As(err, &mistake) {
		t.Errorf("a report beside a configuration that no run has written: %v", err)
	}
	if err := Check(dir, kind, fs.ErrInvalid, same); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a configuration that cannot be read: %v", err)
	}
	other := Found{same.Written, func() (key, was, is string) { return "train.batch", "1", "2" }}
	if err := Check(dir, kind, nil, other); err != nil {
		t.Errorf("another run that has learned nothing: %v", err)
	}
	for _, name := range []string{"last.safetensors", "seed-1/baseline/best.safetensors", "stage1/result.json",
		"stage1/" + LockFile} {
		file := filepath.Join(dir, name)
		expect.OK(t, os.MkdirAll(filepath.Dir(file), 0o777))
		expect.OK(t, os.WriteFile(file, nil, 0o666))
		if err := Check(dir, kind, nil, other); !errors.As(err, &mistake) ||
			!strings.Contains(err.Error(), "its train.batch is 1, this one's 2") {
			t.Errorf("another run with %s: %v", name, err)
		}
		expect.OK(t, os.Remove(file))
	}
}

func TestLock_KeepsOthersOutAndNamesTheirProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs", "new")
	release, err := Lock(t.Context(), dir, slog.New(slog.DiscardHandler))
	expect.OK(t, err)
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
	expect.OK(t, release())
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v is left (%v), want the folder of the stage alone", entries, err)
	}
}
