package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/captioner"
	"nmn/run"
	"nmn/train"
)

// Files that no run has written are never overwritten, not even a configuration.
func TestSession_OverwritesNoFileOfOthers(t *testing.T) {
	c := sceneConfig(t)
	s, _ := openSession(t, c)
	text, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{run.ConfigFile, captioner.WordsFile, train.LastName, train.PreviousName,
		train.BestName} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Train(t.Context(), dir); err == nil || !strings.HasPrefix(err.Error(), file+" would be overwritten") {
			t.Errorf("a folder with a %s of somebody: %v", name, err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 || string(readFile(t, dir, name)) != string(text) {
			t.Errorf("%s lies beside %v (%v), or has changed", file, entries, err)
		}
	}
}

// A message that results are printed must not be followed by an error and no results.
func TestSession_SaysThatResultsAreShownWhereTheyAre(t *testing.T) {
	c, dir := sceneConfig(t), filepath.Join(t.TempDir(), "run")
	c.Train.MaxSteps = 2
	s, messages := openSession(t, c)
	if _, err := s.Train(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	shown := run.Reused(dir).Text
	data := filepath.Join(dir, run.DataFile)
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(data, 0o777); err != nil { // in the place of the list of files
		t.Fatal(err)
	}
	if _, err := s.Train(t.Context(), dir); err == nil || slices.Contains(*messages, shown) {
		t.Errorf("with the error %v it was said: %q", err, *messages)
	}
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Train(t.Context(), dir); err != nil || !slices.Contains(*messages, shown) {
		t.Errorf("with the error %v it was said: %q", err, *messages)
	}
}
