package session

import (
	"os"
	"strings"
	"testing"
)

// Features that have changed in a clip that the identity of a result does not look at are noticed too.
func TestSession_RefusesFeaturesThatHaveChanged(t *testing.T) {
	c, dir := sceneConfig(t), t.TempDir()
	s, _ := openSession(t, c)
	_, err := s.Train(t.Context(), dir)
	check(t, err)
	file := c.Data.Train.Features
	content, err := os.ReadFile(file)
	check(t, err)
	content[len(content)/3] ^= 1 // a bit of some frame
	check(t, os.WriteFile(file, content, 0o666))
	again, _ := openSession(t, c)
	if _, err := again.Train(t.Context(), dir); err == nil ||
		!strings.Contains(err.Error(), file+" has changed since this run began (sha256 ") {
		t.Errorf("with other features: %v", err)
	}
}
