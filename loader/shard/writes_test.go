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

	"nmn/internal/expect"
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
		expect.OK(w.t, json.Unmarshal(line, &r))
		if _, err := os.Stat(filepath.Join(w.dir, r.Shard)); err != nil {
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
func watched(t *testing.T) (*Writer, *watchedIndex) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "frames")
	w, err := Create(dir, Config{ShardBytes: 20_000})
	expect.OK(t, err)
	t.Cleanup(func() { _ = w.Close() })
	index := &watchedIndex{indexFile: w.index.file, t: t, dir: dir}
	w.index.file = index
	return w, index
}

// A line of the index means that frames are there. It comes after them, and is on the disk before the next
// frames.
func TestWriter_IndexFollowsTheFramesAndIsSynced(t *testing.T) {
	w, index := watched(t)
	for _, name := range []string{"a", "b"} {
		expect.OK(t, w.Add(clip(name, 100, 200)))
	}
	expect.OK(t, w.Flush())
	expect.OK(t, w.Add(clip("c", 300)))
	expect.OK(t, w.Finish())
	// Two shards: the first two clips, and the third.
	if want := []string{"write", "sync", "write", "sync"}; !slices.Equal(index.calls, want) {
		t.Errorf("calls %q, want %q", index.calls, want)
	}
}

// After a write that fails midway, the index is what it was: the next clips follow whole lines.
func TestWriter_TakesBackAFailedWriteOfTheIndex(t *testing.T) {
	for _, failing := range []string{"write", "sync"} {
		w, index := watched(t)
		expect.OK(t, w.Add(clip("a", 100)))
		expect.OK(t, w.Flush())
		before := read(t, w.dir, IndexName)
		index.failing = failing
		err := w.Add(clip("b", 100))
		if err == nil {
			err = w.Flush()
		}
		if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "nmn frames goes on") {
			t.Errorf("%s fails: error %v", failing, err)
		}
		if after := read(t, w.dir, IndexName); !bytes.Equal(after, before) {
			t.Errorf("%s fails: the index becomes\n%s\nwant\n%s", failing, after, before)
		}
		if r, err := Open(w.dir); err != nil {
			t.Errorf("%s fails: %v", failing, err)
		} else {
			expect.OK(t, r.Close())
		}
	}
}

// A process that is killed before Finish leaves the file of offsets of the run before it.
func TestOpen_OffsetsOfAShorterIndexAreNotUsed(t *testing.T) {
	dir := write(t)
	w, err := Append(dir, Config{ShardBytes: 20_000, Settings: json.RawMessage(`{"frames":26}`)})
	expect.OK(t, err)
	expect.OK(t, w.Add(clip("later", 100)))
	expect.OK(t, w.Flush())
	expect.OK(t, w.Close())
	r := open(t, dir)
	if r.Len() != len(names)+1 {
		t.Fatalf("%d clips, want %d", r.Len(), len(names)+1)
	}
	last, err := r.Record(len(names))
	expect.OK(t, err)
	if last.Clip != "later" {
		t.Errorf("the last clip is %q", last.Clip)
	}
	expect.OK(t, r.Check(t.Context()))
}

// Reading a clip by its name would find one of two.
func TestCheck_FindsAClipThatWasWrittenTwice(t *testing.T) {
	for _, without := range []string{"", offsetsName} {
		dir := t.TempDir()
		w, err := Create(dir, DefaultConfig())
		expect.OK(t, err)
		for _, name := range []string{"a", "b", "a"} {
			expect.OK(t, w.Add(clip(name, 10)))
		}
		expect.OK(t, errors.Join(w.Finish(), w.Close()))
		if without != "" {
			expect.OK(t, os.Remove(filepath.Join(dir, without)))
		}
		err = open(t, dir).Check(t.Context())
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), `line 4`) ||
			!strings.Contains(err.Error(), `the clip "a" is there twice`) {
			t.Errorf("without %q: error %v", without, err)
		}
	}
}
