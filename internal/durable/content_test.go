package durable

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unwritable is content that cannot be written.
type unwritable struct{ err error }

func (u unwritable) WriteTo(io.Writer) (int64, error) { return 0, u.err }

func TestSaveFrom_WritesTheWholeOrNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words.txt")
	check(t, SaveFrom(path, "the words", bytes.NewBufferString("a\nb\n")))
	broken := errors.New("word 3 is empty")
	if err := SaveFrom(path, "the words", unwritable{broken}); err != broken {
		t.Errorf("error %v, want the content's", err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "a\nb\n" {
		t.Errorf("%q (%v)", content, err)
	}
	err := SaveFrom(filepath.Join(path, "below"), "the words", new(bytes.Buffer))
	if err == nil || !strings.HasPrefix(err.Error(), `cannot write the words "`) {
		t.Errorf("error %v", err)
	}
}
