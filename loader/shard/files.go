package shard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// openFiles keeps some files of a folder open: as many as the limit, or more if more are read at once.
type openFiles struct {
	root  *os.Root
	limit int

	mutex sync.Mutex
	files map[string]*openFile // nil after Close
}

type openFile struct {
	file    *os.File
	size    int64
	readers int
}

func newOpenFiles(root *os.Root, limit int) *openFiles {
	return &openFiles{root: root, limit: limit, files: map[string]*openFile{}}
}

// acquire returns an open file. Every call without an error is followed by one of release.
func (o *openFiles) acquire(name string) (*openFile, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.files == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrClosed}
	}
	f := o.files[name]
	if f == nil {
		o.makeRoom()
		file, size, err := openRegular(o.root, name)
		if err != nil {
			return nil, err
		}
		f = &openFile{file: file, size: size}
		o.files[name] = f
	}
	f.readers++
	return f, nil
}

// makeRoom closes a file without readers if the limit is reached.
func (o *openFiles) makeRoom() {
	if len(o.files) < o.limit {
		return
	}
	for name, f := range o.files {
		if f.readers == 0 {
			delete(o.files, name)
			f.file.Close() // it was only read
			return
		}
	}
}

// release gives back a file that acquire has returned. After Close its last reader closes it.
func (o *openFiles) release(f *openFile) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if f.readers--; f.readers == 0 && o.files == nil {
		f.file.Close()
	}
}

// Close closes the files without readers. It does not wait for readers, which may belong to a stopped epoch:
// they read to the end, and the last one of each file closes it. Nothing is opened any more.
func (o *openFiles) Close() error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	var err error
	for _, f := range o.files {
		if f.readers == 0 {
			err = errors.Join(err, f.file.Close())
		}
	}
	o.files = nil
	return err
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
