package shard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// Reader reads a folder of frames, in memory that does not grow with the number of clips where
// index.offsets is there, and else with 8 bytes for each. It may be used by several goroutines at once.
type Reader struct {
	dir     string
	root    *os.Root
	header  Header
	index   *os.File
	offsets offsets
	files   *openFiles
}

// maxOpenFiles is how many shards a Reader keeps open.
const maxOpenFiles = 64

// Open opens a folder. Without an index.offsets that fits the index it reads the whole index, and reports an
// error in any line. Otherwise it reads lines when they are requested. Check compares the whole index with
// the shards, and ReadFrame each frame it reads.
func Open(dir string) (_ *Reader, err error) {
	r := &Reader{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	if r.index, err = openIndex(dir); err != nil {
		return nil, err
	}
	info, err := r.index.Stat()
	if err != nil {
		return nil, fmt.Errorf("shard: %w", err)
	}
	s, err := newIndexScanner(r.index, r.index.Name())
	if err != nil {
		return nil, err
	}
	r.header = s.header
	if file := openOffsets(dir, info.Size()); file != nil {
		r.offsets = file
	} else if r.offsets, err = readOffsets(s); err != nil {
		return nil, err
	}
	if r.root, err = os.OpenRoot(dir); err != nil {
		return nil, fmt.Errorf("shard: %w", err)
	}
	r.files = newOpenFiles(r.root, maxOpenFiles)
	return r, nil
}

// Close closes all files. Reads that follow fail; those that other goroutines have begun are not waited for: the file
// that they read is closed after them.
func (r *Reader) Close() error {
	var all []error
	if r.files != nil {
		all = append(all, r.files.Close(), r.root.Close())
	}
	if r.offsets != nil {
		all = append(all, r.offsets.Close())
	}
	if r.index != nil {
		all = append(all, r.index.Close())
	}
	return errors.Join(all...)
}

// Len is the number of clips.
func (r *Reader) Len() int { return r.offsets.count() }

// Header is the first line of the index.
func (r *Reader) Header() Header { return r.header }

// Record reads the record of clip i of 0 to Len()-1.
func (r *Reader) Record(i int) (Record, error) {
	if i < 0 || i >= r.Len() {
		return Record{}, fmt.Errorf("shard: %s: there is no clip %d of %d", r.index.Name(), i, r.Len())
	}
	start, end, err := r.offsets.span(i)
	if err != nil {
		return Record{}, err
	}
	// The byte before is read too: it ends the line before.
	text := make([]byte, end-start+1)
	if _, err := r.index.ReadAt(text, start-1); err != nil {
		return Record{}, lineError(r.index.Name(), i+2, start, fmt.Errorf("cannot read %d bytes: %w", len(text), err))
	}
	line := text[1 : len(text)-1]
	if text[0] != '\n' || text[len(text)-1] != '\n' || bytes.IndexByte(line, '\n') >= 0 {
		return Record{}, lineError(r.index.Name(), i+2, start,
			faultf("by %s the line is at bytes %d to %d, but it is not", offsetsName, start, end))
	}
	record, err := parseRecord(line)
	if err != nil {
		return Record{}, lineError(r.index.Name(), i+2, start, err)
	}
	return record, nil
}

// Records reads the index from the start, in order. It ends with the first error.
func (r *Reader) Records() iter.Seq2[Record, error] { return Records(r.dir) }

// ReadFrame reads the bytes of picture i of a clip, i from 0 to len(record.Frames)-1, into buf if it is large
// enough, and returns them. Errors about the content wrap ErrFormat and name the shard and the byte.
func (r *Reader) ReadFrame(record *Record, i int, buf []byte) ([]byte, error) {
	if i < 0 || i >= len(record.Frames) {
		return nil, fmt.Errorf("shard: there is no picture %d of %d of the clip %q", i, len(record.Frames), record.Clip)
	}
	f := record.Frames[i]
	buf, err := r.read(record.Shard, f.Offset-tarBlock, int(f.Size)+tarBlock, buf)
	if err == nil {
		err = checkHead(buf[:tarBlock], record, i)
	}
	if err != nil {
		return nil, fmt.Errorf("shard: %s, byte %d, picture %d of the clip %q: %w",
			filepath.Join(r.dir, record.Shard), f.Offset, i, record.Clip, err)
	}
	// Moved to the front, so that a caller who passes the buffer again passes all of it.
	return buf[:copy(buf, buf[tarBlock:])], nil
}

// read reads n bytes of a shard.
func (r *Reader) read(name string, offset int64, n int, buf []byte) ([]byte, error) {
	file, err := r.files.acquire(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, faultf("%v; %s", err, cure)
	}
	if err != nil {
		return nil, err
	}
	defer r.files.release(file)
	if offset+int64(n) > file.size {
		return nil, faultf("the file has %d bytes, but the index requires %d or more: one of them is cut short or from "+
			"another run; %s", file.size, offset+int64(n), cure)
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	_, err = file.file.ReadAt(buf, offset)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = faultf("the file was cut short while it was read")
	}
	return buf, err
}

// checkHead holds the tar header before a picture to the index.
func checkHead(head []byte, record *Record, i int) error {
	want := record.Key + "." + pictureName(i, len(record.Frames))
	size := fmt.Sprintf("%011o\x00", record.Frames[i].Size)
	name, _, _ := bytes.Cut(head[:100], []byte{0})
	if len(want) > 100 { // the whole name is in a header before this one
		want = string(name)
	}
	if string(name) != want || string(head[124:136]) != size {
		return faultf("the index is not of this shard, which has another member there; %s", cure)
	}
	return nil
}
