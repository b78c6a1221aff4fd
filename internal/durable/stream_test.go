package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStream_AppearsWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	long := strings.Repeat("a row\n", 50_000)
	check(t, Stream(path, 0o644, func(w io.Writer) error {
		_, err := io.WriteString(w, long)
		return err
	}))
	wantContent(t, path, long)
	broken := errors.New("no more rows")
	err := Stream(path, 0o644, func(w io.Writer) error {
		_, _ = io.WriteString(w, long+long)
		return broken
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "rows.csv") {
		t.Errorf("%v, want one that names the file", err)
	}
	wantContent(t, path, long)
	wantNames(t, filepath.Dir(path), "rows.csv")
	if err := Stream(filepath.Join(path, "below"), 0o644, func(io.Writer) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "below") {
		t.Errorf("below a file: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
