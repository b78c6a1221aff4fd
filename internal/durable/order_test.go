package durable

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
)

// recorder replaces the file aside and records the calls in order.
type recorder struct {
	calls   []string
	failing string // the call that fails; empty for none
}

var errDisk = errors.New("the disk is full")

func (r *recorder) call(name string) error {
	r.calls = append(r.calls, name)
	if name == r.failing {
		return errDisk
	}
	return nil
}

func (r *recorder) Write(p []byte) (int, error)    { return len(p), r.call("write") }
func (r *recorder) Seek(int64, int) (int64, error) { return 0, r.call("seek") }
func (r *recorder) replace() error                 { return r.call("replace") }
func (r *recorder) discard() error                 { return r.call("discard") }
func (r *recorder) Sync() error                    { return r.call("sync") }

// A renamed file must not be removed, and a file that could not be renamed must be removed, once.
func TestFile_IsReplacedOrDiscardedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		commit  bool
		failing string
		want    []string
	}{
		"committed":                   {true, "", []string{"replace"}},
		"the file cannot be replaced": {true, "replace", []string{"replace", "discard"}},
		"closed alone":                {false, "", []string{"discard"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{failing: c.failing}
			f := &File{aside: r, path: filepath.Join(t.TempDir(), "last")}
			if c.commit {
				if err := f.Commit(); (err != nil) != (c.failing != "") || err != nil && !errors.Is(err, errDisk) {
					t.Errorf("Commit: %v", err)
				}
			}
			check(t, f.Close())
			check(t, f.Close())
			if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Commit at the end: %v", err)
			}
			if !slices.Equal(r.calls, c.want) {
				t.Errorf("calls %q, want %q", r.calls, c.want)
			}
		})
	}
}
