//go:build unix

package features

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/input"
)

// Opening a pipe would block until a writer opens it.
func TestOpen_RefusesPipes(t *testing.T) {
	for _, ending := range []string{"csv", "arff", "npy", "npz", "safetensors", "parquet"} {
		pipe := filepath.Join(t.TempDir(), "pipe."+ending)
		expect.OK(t, syscall.Mkfifo(pipe, 0o600))
		if _, err := Open(t.Context(), Options{Features: pipe}); !errors.Is(err, input.ErrNoFile) {
			t.Errorf(".%s: %v", ending, err)
		}
	}
}
