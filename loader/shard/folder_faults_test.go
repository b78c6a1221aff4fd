package shard

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/durable"
)

// failing is a file in which one call fails.
type failing struct {
	synced
	call string
}

func (f failing) Write(p []byte) (int, error) {
	if f.call == "write" {
		return 0, errDisk
	}
	return f.synced.Write(p)
}

func (f failing) Sync() error {
	if f.call == "sync" {
		return errDisk
	}
	return f.synced.Sync()
}

func (f failing) Close() error {
	if err := f.synced.Close(); f.call != "close" {
		return err
	}
	return errDisk
}

// Whatever fails while the folder of a clip is made, the clip does not enter the index, and comes again when the
// frames are resumed.
func TestWriter_AFolderThatCannotBeWrittenIsNotListed(t *testing.T) {
	c := Config{Form: Folder, ShardBytes: 1 << 20}
	for _, file := range []string{"00.jpg", "01.jpg", clipName} {
		for _, call := range []string{"create", "write", "sync", "close"} {
			unlisted(t, c, file+": "+call, func(s *folderSink) {
				s.create = func(path string) (synced, error) {
					if filepath.Base(path) != file {
						return createSynced(path)
					}
					if call == "create" {
						return nil, errDisk
					}
					real, err := createSynced(path)
					return failing{real, call}, err
				}
			})
		}
	}
	for _, folder := range []string{asideMark + Key("b.mp4"), "frames"} {
		unlisted(t, c, "the folder "+folder, func(s *folderSink) {
			s.sync = func(path string) error {
				if filepath.Base(path) == folder {
					return errDisk
				}
				return durable.SyncFolder(path)
			}
		})
	}
}

// unlisted adds a clip to a writer, and one that fails to be written.
func unlisted(t *testing.T, c Config, name string, breakIt func(*folderSink)) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "frames")
	w, err := Create(dir, c)
	check(t, err)
	check(t, w.Add(clip("a.mp4", 10)))
	breakIt(w.sink.(*folderSink))
	if err := w.Add(clip("b.mp4", 10, 20)); !errors.Is(err, errDisk) || !strings.Contains(err.Error(), `"b.mp4"`) {
		t.Errorf("%s: error %v", name, err)
	}
	check(t, w.Close())
	if entries, err := filepath.Glob(filepath.Join(dir, asideMark+"*")); err != nil || len(entries) > 0 {
		t.Errorf("%s: %q are left, %v", name, entries, err)
	}
	if r := open(t, dir); r.Len() != 1 {
		t.Errorf("%s: %d clips are listed, want 1", name, r.Len())
	}
	w, err = Append(dir, c)
	check(t, err)
	check(t, w.Add(clip("b.mp4", 10, 20)))
	check(t, errors.Join(w.Finish(), w.Close()))
	if r := open(t, dir); r.Len() != 2 {
		t.Errorf("%s: %d clips after resuming, want 2", name, r.Len())
	} else {
		check(t, r.Check(t.Context()))
	}
}

// Other files in a folder of frames stay; only leftovers of a killed process are removed.
func TestAppend_RemovesItsOwnLeftoversAlone(t *testing.T) {
	dir := write(t, Shards)
	ours := []string{"." + IndexName + "12345", "." + offsetsName + "12345", ".frames-000003.tar77", asideMark + "a"}
	others := []string{"notes.txt", ".notes12", ".frames-3.tar77", "frames-000001.tar.bak", ".nfs0001"}
	for _, name := range append(ours, others...) {
		check(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	w, err := Append(dir, Config{Form: Shards, ShardBytes: 20_000, Settings: []byte(`{"frames":26}`)})
	check(t, err)
	check(t, w.Close())
	for _, name := range ours {
		if durable.Exists(filepath.Join(dir, name)) {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range others {
		if !durable.Exists(filepath.Join(dir, name)) {
			t.Errorf("%s was removed", name)
		}
	}
}
