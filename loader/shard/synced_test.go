package shard

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// syncNote notes when a file is synced and closed.
type syncNote struct {
	synced
	name string
	note func(string)
}

func (f syncNote) Sync() error {
	f.note("sync " + f.name)
	return f.synced.Sync()
}

func (f syncNote) Close() error {
	f.note("close " + f.name)
	return f.synced.Close()
}

// A folder of pictures gets its name when all that is in it is on the disk, and then the name is synced too.
func TestWriter_AFolderIsSyncedBeforeItHasItsName(t *testing.T) {
	w, index := watched(t, Folder)
	var notes []string
	sink := w.sink.(*folderSink)
	create, sync := sink.create, sink.sync
	sink.create = func(path string) (synced, error) {
		file, err := create(path)
		return syncNote{file, filepath.Base(path), func(s string) { notes = append(notes, s) }}, err
	}
	sink.sync = func(folder string) error {
		_, err := os.Stat(filepath.Join(w.dir, "a"))
		notes = append(notes, "sync "+filepath.Base(folder))
		if named := err == nil; named != (folder == w.dir) {
			t.Errorf("%s is synced, and the clip has its name: %t", folder, named)
		}
		if len(index.calls) > 0 {
			t.Error("the index has the clip before its folder is synced")
		}
		return sync(folder)
	}
	check(t, w.Add(clip("a", 100, 200)))
	want := []string{"sync 00.jpg", "close 00.jpg", "sync 01.jpg", "close 01.jpg", "sync clip.json", "close clip.json",
		"sync .aside-a", "sync frames"} // which is the folder of all clips
	if !slices.Equal(notes, want) {
		t.Errorf("done %q, want %q", notes, want)
	}
}
