package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/setting"
)

func TestCheck_RefusesToOverwriteFilesOfOthers(t *testing.T) {
	dir := t.TempDir()
	kind := Kind{Config: "config.yaml", Writes: func(name string) bool { return name == "report.md" }}
	none := fmt.Errorf("no configuration: %w", fs.ErrNotExist)
	same := func() (key, was, is string) { return "", "", "" }
	for _, name := range []string{LockFile, "notes.txt", ".report.md123"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := Check(dir, none, kind, same); err != nil {
		t.Errorf("a folder of other files, none of which is written: %v", err)
	}
	if err := Check(filepath.Join(dir, "new"), none, kind, same); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
	report := filepath.Join(dir, "report.md")
	if err := os.WriteFile(report, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	var mistake *setting.Error
	if err := Check(dir, none, kind, same); !errors.As(err, &mistake) || mistake.Field != "run_dir" ||
		!strings.HasPrefix(err.Error(), report+" would be overwritten") {
		t.Errorf("a report of somebody: %v", err)
	}
	if err := Check(dir, nil, kind, same); err != nil {
		t.Errorf("the report of a run: %v", err)
	}
}
