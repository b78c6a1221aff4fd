package captioner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/captioning"
	"nmn/run"
	"nmn/train"
)

// What lies in a folder that no run has written is somebody's, a configuration too.
func TestSession_OverwritesNoFileOfOthers(t *testing.T) {
	c := sceneConfig(t)
	s, _ := openSession(t, c)
	text, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{run.ConfigFile, captioning.WordsFile, train.LastName, train.PreviousName,
		train.BestName} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Resume(t.Context(), dir); err == nil || !strings.HasPrefix(err.Error(), file+" would be overwritten") {
			t.Errorf("a folder with a %s of somebody: %v", name, err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 || string(readFile(t, dir, name)) != string(text) {
			t.Errorf("%s lies beside %v (%v), or has changed", file, entries, err)
		}
	}
}
