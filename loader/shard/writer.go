package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/internal/lock"
)

// Config selects how frames are stored.
type Config struct {
	// ShardBytes is the approximate size of a shard: the next clip starts a new shard if it would exceed this
	// size. A clip that is larger by itself has a shard of its own.
	ShardBytes int64
	First      int             // the number of the first shard of a new folder
	Settings   json.RawMessage // kept in the index
}

// DefaultConfig are shards of 256 MiB.
func DefaultConfig() Config { return Config{ShardBytes: 256 << 20} }

// Validate returns which field is out of range.
func (c Config) Validate() error {
	if c.ShardBytes < 1<<10 || c.ShardBytes > 1<<40 {
		return fmt.Errorf("shard: ShardBytes = %d, allowed are %d to %d", c.ShardBytes, 1<<10, int64(1)<<40)
	}
	_, err := newHeader(c.Settings)
	return err
}

// Writer appends clips to a folder of frames. It is not safe for use by several goroutines at once.
type Writer struct {
	dir    string
	config Config
	index  indexWriter
	shards shardSink
}

// aside is a file that appears with Commit.
type aside interface {
	io.Writer
	Commit() error
	Close() error
}

func createAside(path string) (aside, error) { return durable.Create(path, 0o644) }

// Create begins a folder, and creates it if needed. If it already has frames, the error wraps ErrExists.
func Create(dir string, c Config) (*Writer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("shard: %w", err)
	}
	shards, err := findShards(dir)
	if err != nil {
		return nil, err
	}
	_, index := os.Lstat(filepath.Join(dir, IndexName))
	_, offsets := os.Lstat(filepath.Join(dir, offsetsName))
	if index == nil || offsets == nil || len(shards) > 0 {
		return nil, fmt.Errorf("shard: cannot begin a set of frames in %q: %w: name another folder", dir, ErrExists)
	}
	header, err := newHeader(c.Settings)
	if err != nil {
		return nil, err
	}
	line, err := header.line()
	if err != nil {
		return nil, err
	}
	if err := durable.WriteFile(filepath.Join(dir, IndexName), line, 0o644); err != nil {
		return nil, fmt.Errorf("shard: cannot begin the index: %w", err)
	}
	return newWriter(dir, c, c.First)
}

// newWriter appends to the existing files; next is the number of the next shard.
func newWriter(dir string, c Config, next int) (*Writer, error) {
	file, err := os.OpenFile(filepath.Join(dir, IndexName), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, fmt.Errorf("shard: %w", err)
	}
	// On systems without locks, other processes are not kept out.
	if err := lock.File(file); err != nil && !errors.Is(err, lock.ErrUnsupported) {
		return nil, errors.Join(
			fmt.Errorf("shard: another nmn frames is writing to %q: wait for it, or name another folder: %w", dir, err),
			file.Close())
	}
	w := &Writer{dir: dir, config: c, index: indexWriter{file: file}}
	w.shards = shardSink{dir: dir, limit: c.ShardBytes, next: next, index: &w.index, create: createAside}
	return w, nil
}

// Add appends a clip, whose pictures are JPEG files. It sets the record's key, shard, offsets and sizes.
// After an error the writer must be closed; finished shards stay.
func (w *Writer) Add(r *Record, pictures [][]byte) error {
	if len(pictures) != len(r.Frames) {
		return fmt.Errorf("shard: the clip %q has %d pictures and %d frames", r.Clip, len(pictures), len(r.Frames))
	}
	r.Key, r.Shard = Key(r.Clip), ""
	for i, picture := range pictures {
		r.Frames[i].Offset, r.Frames[i].Size = 0, int64(len(picture))
	}
	if err := r.checkClip(); err != nil {
		return fmt.Errorf("shard: cannot add a clip: %w", err)
	}
	return w.failed(w.shards.add(r, pictures))
}

// Flush finishes the shard that is being written; clips that are added after begin another one.
func (w *Writer) Flush() error { return w.failed(w.shards.finish()) }

// Finish finishes what was added, and writes the file of offsets.
func (w *Writer) Finish() error {
	if err := w.Flush(); err != nil {
		return err
	}
	return writeOffsets(w.dir)
}

// Close takes away what was not finished.
func (w *Writer) Close() error {
	return w.failed(errors.Join(w.shards.discard(), w.index.file.Close()))
}

func (w *Writer) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(
		"shard: cannot write to %q; finished clips are valid, and nmn frames goes on from there: %w",
		w.dir, err)
}

// indexWriter appends lines to the index.
type indexWriter struct{ file indexFile }

// indexFile is the index's view of its file, an *os.File except in tests.
type indexFile interface {
	io.WriteCloser
	Stat() (os.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

// append writes lines durably. If they cannot be written completely, the written part is removed.
func (i *indexWriter) append(lines []byte) error {
	info, err := i.file.Stat()
	if err != nil {
		return err
	}
	if _, err = i.file.Write(lines); err == nil {
		err = i.file.Sync()
	}
	if err != nil {
		return errors.Join(err, i.file.Truncate(info.Size()))
	}
	return nil
}

// shardSink writes tar shards. add takes a clip in and sets where its frames lie, finish makes what was taken in last,
// and discard takes away what was not finished.
type shardSink struct {
	dir    string
	limit  int64
	next   int // number of the shard after the last
	index  *indexWriter
	create func(path string) (aside, error)

	// The shard that is being written, if any:
	file  aside
	tar   *tarWriter
	name  string
	lines bytes.Buffer // lines of the index
}

func (s *shardSink) add(r *Record, pictures [][]byte) error {
	if s.file != nil && s.tar.bytes+tarBytes(r) > s.limit {
		if err := s.finish(); err != nil {
			return err
		}
	}
	if s.file == nil {
		s.name = shardName(s.next)
		file, err := s.create(filepath.Join(s.dir, s.name))
		if err != nil {
			return err
		}
		s.file, s.tar = file, newTarWriter(file)
	}
	r.Shard = s.name
	if err := s.tar.add(r, pictures); err != nil {
		return fmt.Errorf("%s, byte %d, clip %q: %w", s.name, s.tar.bytes, r.Clip, err)
	}
	return writeLine(&s.lines, r)
}

func (s *shardSink) finish() error {
	if s.file == nil {
		return nil
	}
	err := s.tar.tar.Close()
	if err == nil {
		err = s.file.Commit()
	}
	if err != nil {
		return fmt.Errorf("%s, byte %d: %w", s.name, s.tar.bytes, err)
	}
	s.file = nil
	s.next++
	err = s.index.append(s.lines.Bytes())
	s.lines.Reset()
	return err
}

func (s *shardSink) discard() error {
	if s.file == nil {
		return nil
	}
	defer func() { s.file = nil }()
	return s.file.Close()
}

func writeLine(b *bytes.Buffer, r *Record) error {
	text, err := json.Marshal(r)
	b.Write(text)
	b.WriteByte('\n')
	return err
}
