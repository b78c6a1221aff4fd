package shard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// isClosed reports whether a file is closed.
func isClosed(f *openFile) bool {
	_, err := f.file.Stat()
	return errors.Is(err, fs.ErrClosed)
}

// A stopped epoch leaves readers running, and the folder is closed while they read.
func TestOpenFiles_CloseLeavesReadersTheirFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644))
	}
	root, err := os.OpenRoot(dir)
	check(t, err)
	defer root.Close()
	o := newOpenFiles(root, 4)
	idle, err := o.acquire("b")
	check(t, err)
	o.release(idle)
	first, err := o.acquire("a")
	check(t, err)
	second, err := o.acquire("a")
	check(t, err)

	check(t, o.Close())
	if !isClosed(idle) {
		t.Error("a file that nobody reads is open")
	}
	if _, err := o.acquire("a"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a file is opened after Close: %v", err)
	}
	o.release(first)
	content := make([]byte, 1)
	if _, err := second.file.ReadAt(content, 0); err != nil || string(content) != "a" {
		t.Errorf("the second reader reads %q, %v", content, err)
	}
	o.release(second)
	if !isClosed(second) {
		t.Error("the last reader has left its file open")
	}
	check(t, o.Close())
}

// Close may come at any moment of other goroutines' reads: each returns the picture or reports that the
// folder is closed.
func TestReader_CloseDuringReads(t *testing.T) {
	for _, form := range []Form{Shards, Folder} {
		dir := write(t, form)
		for range 5 {
			r, err := Open(dir)
			check(t, err)
			record, err := r.Record(0)
			check(t, err)
			var group sync.WaitGroup
			reading := make(chan struct{}, 4)
			for range cap(reading) {
				group.Go(func() {
					reading <- struct{}{}
					var buf []byte
					var err error
					for err == nil {
						buf, err = r.ReadFrame(&record, 0, buf)
					}
					if !errors.Is(err, fs.ErrClosed) {
						t.Errorf("%v: %v", form, err)
					}
				})
			}
			for range cap(reading) {
				<-reading
			}
			check(t, r.Close())
			group.Wait()
		}
	}
}
