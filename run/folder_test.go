package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/report"
	"nmn/train"
)

// Files in a folder that no run has written belong to the user, a configuration too.
func TestTrain_OverwritesNoFileOfOthers(t *testing.T) {
	c := tiny(t)
	s := opened(t, c, Options{})
	text := value(c.YAML())(t)
	for _, name := range []string{ConfigFile, VocabularyFile, LogFile, report.HTMLFile, train.LastName,
		train.BestName} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		content := []byte("mine")
		if name == ConfigFile {
			content = text
		}
		must(t, os.WriteFile(file, content, 0o666))
		if _, err := s.Train(t.Context(), dir); err == nil || !strings.HasPrefix(err.Error(), file+" would be overwritten") {
			t.Errorf("a folder with a %s of somebody: %v", name, err)
		}
		entries, err := os.ReadDir(dir)
		if there, reading := os.ReadFile(file); err != nil || reading != nil || string(there) != string(content) ||
			len(entries) != 1 {
			t.Errorf("%s holds %q beside %v (%v, %v)", file, there, entries, err, reading)
		}
	}
}
