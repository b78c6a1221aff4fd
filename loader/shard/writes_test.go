package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// watchedIndex is an index that notes what is done to it, and whether the frames of its lines were there before.
type watchedIndex struct {
	indexFile
	t       *testing.T
	dir     string
	calls   []string
	failing string // the call that fails: a write after half of it
}

var errDisk = errors.New("the disk is full")

func (w *watchedIndex) Write(lines []byte) (int, error) {
	w.calls = append(w.calls, "write")
	for line := range bytes.Lines(lines) {
		var r Record
		check(w.t, json.Unmarshal(line, &r))
		name := r.Shard
		if name == "" {
			name = filepath.Join(r.Key, clipName)
		}
		if _, err := os.Stat(filepath.Join(w.dir, name)); err != nil {
			w.t.Errorf("the index has the clip %q before its frames are there: %v", r.Clip, err)
		}
	}
	if w.failing == "write" {
		n, _ := w.indexFile.Write(lines[:len(lines)/2])
		return n, errDisk
	}
	return w.indexFile.Write(lines)
}

func (w *watchedIndex) Sync() error {
	w.calls = append(w.calls, "sync")
	if w.failing == "sync" {
		return errDisk
	}
	return w.indexFile.Sync()
}

// watched begins a folder of frames with such an index.
func watched(t *testing.T, form Form) (*Writer, *watchedIndex) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "frames")
	w, err := Create(dir, Config{Form: form, ShardBytes: 20_000})
	check(t, err)
	t.Cleanup(func() { _ = w.Close() })
	index := &watchedIndex{indexFile: w.index.file, t: t, dir: dir}
	w.index.file = index
	return w, index
}

// A line of the index means that frames are there. It comes after them, and is on the disk before the next
// frames.
func TestWriter_IndexFollowsTheFramesAndIsSynced(t *testing.T) {
	for form, want := range map[Form][]string{
		Shards: {"write", "sync", "write", "sync"}, // two shards: the first two clips, and the third
		Folder: {"write", "sync", "write", "sync", "write", "sync"},
	} {
		w, index := watched(t, form)
		for _, name := range []string{"a", "b"} {
			check(t, w.Add(clip(name, 100, 200)))
		}
		check(t, w.Flush())
		check(t, w.Add(clip("c", 300)))
		check(t, w.Finish())
		if !slices.Equal(index.calls, want) {
			t.Errorf("%s: calls %q, want %q", form, index.calls, want)
		}
	}
}

// After a write that fails midway, the index is what it was: the next clips follow whole lines.
func TestWriter_TakesBackAFailedWriteOfTheIndex(t *testing.T) {
	for _, form := range []Form{Shards, Folder} {
		for _, failing := range []string{"write", "sync"} {
			w, index := watched(t, form)
			check(t, w.Add(clip("a", 100)))
			check(t, w.Flush())
			before := read(t, w.dir, IndexName)
			index.failing = failing
			err := w.Add(clip("b", 100))
			if err == nil {
				err = w.Flush()
			}
			if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "nmn frames goes on") {
				t.Errorf("%s, %s fails: error %v", form, failing, err)
			}
			if after := read(t, w.dir, IndexName); !bytes.Equal(after, before) {
				t.Errorf("%s, %s fails: the index becomes\n%s\nwant\n%s", form, failing, after, before)
			}
			if r, err := Open(w.dir); err != nil {
				t.Errorf("%s, %s fails: %v", form, failing, err)
			} else {
				check(t, r.Close())
			}
		}
	}
}

// A process that is killed before Finish leaves the file of offsets of the run before it.
func TestOpen_OffsetsOfAShorterIndexAreNotUsed(t *testing.T) {
	dir := write(t, Shards)
	w, err := Append(dir, Config{Form: Shards, ShardBytes: 20_000, Settings: json.RawMessage(`{"frames":26}`)})
	check(t, err)
	check(t, w.Add(clip("later", 100)))
	check(t, w.Flush())
	check(t, w.Close())
	r := open(t, dir)
	if r.Len() != len(names)+1 {
		t.Fatalf("%d clips, want %d", r.Len(), len(names)+1)
	}
	last, err := r.Record(len(names))
	check(t, err)
	if last.Clip != "later" {
		t.Errorf("the last clip is %q", last.Clip)
	}
	check(t, r.Check(t.Context()))
}

// Reading a clip by its name would find one of two.
func TestCheck_FindsAClipThatWasWrittenTwice(t *testing.T) {
	for _, without := range []string{"", offsetsName} {
		dir := t.TempDir()
		w, err := Create(dir, DefaultConfig())
		check(t, err)
		for _, name := range []string{"a", "b", "a"} {
			check(t, w.Add(clip(name, 10)))
		}
		check(t, errors.Join(w.Finish(), w.Close()))
		if without != "" {
			check(t, os.Remove(filepath.Join(dir, without)))
		}
		err = open(t, dir).Check(t.Context())
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), `line 4`) ||
			!strings.Contains(err.Error(), `the clip "a" is there twice`) {
			t.Errorf("without %q: error %v", without, err)
		}
	}
}

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
