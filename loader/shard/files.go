package shard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// openFiles keeps some files of a folder open. At most limit readers hold one at a time; the others
// wait.
type openFiles struct {
	root  *os.Root
	slots chan struct{} // one for each reader

	mutex  sync.Mutex
	files  map[string]*openFile
	clock  int
	closed bool
}

type openFile struct {
	file    *os.File
	size    int64
	readers int
	used    int // when it was asked for last
}

func newOpenFiles(root *os.Root, limit int) *openFiles {
	return &openFiles{root: root, slots: make(chan struct{}, limit), files: map[string]*openFile{}}
}

// acquire returns an open file. Every call without an error is followed by one of release.
func (o *openFiles) acquire(name string) (*openFile, error) {
	o.slots <- struct{}{}
	f, err := o.find(name)
	if err != nil {
		<-o.slots
		return nil, err
	}
	return f, nil
}

func (o *openFiles) find(name string) (*openFile, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.closed {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrClosed}
	}
	f := o.files[name]
	if f == nil {
		if err := o.makeRoom(); err != nil {
			return nil, err
		}
		file, size, err := openRegular(o.root, name)
		if err != nil {
			return nil, err
		}
		f = &openFile{file: file, size: size}
		o.files[name] = f
	}
	o.clock++
	f.readers, f.used = f.readers+1, o.clock
	return f, nil
}

// makeRoom closes the least recently used file if all slots are taken. At least one file is then without
// readers: there are as many slots as files, and the caller has one of the slots and no file.
func (o *openFiles) makeRoom() error {
	if len(o.files) < cap(o.slots) {
		return nil
	}
	oldest := ""
	for name, f := range o.files {
		if f.readers == 0 && (oldest == "" || f.used < o.files[oldest].used) {
			oldest = name
		}
	}
	f := o.files[oldest]
	delete(o.files, oldest)
	return f.file.Close()
}

// release gives back a file that acquire has returned. After Close its last reader closes it.
func (o *openFiles) release(f *openFile) {
	o.mutex.Lock()
	f.readers--
	if o.closed && f.readers == 0 {
		f.file.Close()
	}
	o.mutex.Unlock()
	<-o.slots
}

// Close closes the files without readers. It does not wait for readers, which may belong to a stopped epoch:
// they read to the end, and the last one of each file closes it. Nothing is opened any more.
func (o *openFiles) Close() error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.closed = true
	var all []error
	for name, f := range o.files {
		if f.readers == 0 {
			all = append(all, f.file.Close())
		}
		delete(o.files, name)
	}
	return errors.Join(all...)
}

// openRegular opens a regular file of a folder. It is looked at first, because opening a named pipe
// would wait for its writer.
func openRegular(root *os.Root, name string) (*os.File, int64, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, &fs.PathError{
			Op:   "open",
			Path: name,
			Err:  fmt.Errorf("%w: not a regular file but %v", ErrFormat, info.Mode().Type()),
		}
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, 0, err
	}
	return file, info.Size(), nil
}
