package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/captioner"
	"nmn/internal/expect"
	"nmn/run"
	"nmn/train"
)

// Files that no run has written are never overwritten, not even a configuration.
func TestSession_OverwritesNoFileOfOthers(t *testing.T) {
	c := sceneConfig(t)
	s, _ := openSession(t, c)
	text, err := c.YAML()
	expect.OK(t, err)
	for _, name := range []string{run.ConfigFile, captioner.WordsFile, train.LastName, train.PreviousName,
		train.BestName} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		expect.OK(t, os.WriteFile(file, text, 0o666))
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
	_, err := s.Train(t.Context(), dir)
	expect.OK(t, err)
	shown := run.Reused(dir).Text
	data := filepath.Join(dir, run.DataFile)
	expect.OK(t, os.Remove(data))
	expect.OK(t, os.Mkdir(data, 0o777)) // in the place of the list of files
	if _, err := s.Train(t.Context(), dir); err == nil || slices.Contains(*messages, shown) {
		t.Errorf("with the error %v it was said: %q", err, *messages)
	}
	expect.OK(t, os.Remove(data))
	if _, err := s.Train(t.Context(), dir); err != nil || !slices.Contains(*messages, shown) {
		t.Errorf("with the error %v it was said: %q", err, *messages)
	}
}

// Features that have changed in a clip that the identity of a result does not look at are noticed too.
func TestSession_RefusesFeaturesThatHaveChanged(t *testing.T) {
	c, dir := sceneConfig(t), t.TempDir()
	s, _ := openSession(t, c)
	_, err := s.Train(t.Context(), dir)
	expect.OK(t, err)
	file := c.Data.Train.Features
	content, err := os.ReadFile(file)
	expect.OK(t, err)
	content[len(content)/3] ^= 1 // a bit of some frame
	expect.OK(t, os.WriteFile(file, content, 0o666))
	again, _ := openSession(t, c)
	if _, err := again.Train(t.Context(), dir); err == nil ||
		!strings.Contains(err.Error(), file+" has changed since this run began (sha256 ") {
		t.Errorf("with other features: %v", err)
	}
}

func TestSession_LeavesAFolderAloneThatIsBeingWritten(t *testing.T) {
	s, _ := openSession(t, sceneConfig(t))
	dir := t.TempDir()
	release, err := run.LockFolder(t.Context(), dir, s.Log)
	expect.OK(t, err)
	if _, err := s.Train(t.Context(), dir); !errors.Is(err, run.ErrLocked) {
		t.Errorf("while another process writes the folder: %v", err)
	}
	expect.OK(t, release())
}
