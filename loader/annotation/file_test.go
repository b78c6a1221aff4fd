package annotation

import (
	"os"
	"path/filepath"
	"testing"
)

func TestIsMSRVTT(t *testing.T) {
	for content, want := range map[string]bool{
		smallMSRVTT: true,
		`{"info": {"videos": 1}, "sentences": []}`: true,
		`{"images": [], "videos": []}`:             false,
		`{"a": ["videos"]}`:                        false,
		`[{"videos": 1}]`:                          false,
		`id,caption`:                               false,
		`{"info": {`:                               false,
		``:                                         false,
	} {
		path := filepath.Join(t.TempDir(), "captions.json")
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := IsMSRVTT(t.Context(), path); err != nil || got != want {
			t.Errorf("%.40q: %v, %v", content, got, err)
		}
	}
	if _, err := IsMSRVTT(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there has a form")
	}
}
