package shard

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
)

// Check reads the whole index and all shards except for the pictures themselves, and compares them: the clips
// of the index must be the clips of the shards, in that order and at those bytes, none twice. It needs 16 bytes for
// each clip, and more for the table around them.
func (r *Reader) Check(ctx context.Context) error {
	if _, err := r.index.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("shard: %w", err)
	}
	s, err := newIndexScanner(r.index, r.index.Name())
	if err != nil {
		return err
	}
	c := checking{ctx: ctx, reader: r, index: s, seen: seenClips{}}
	if err := c.shards(); err != nil {
		return err
	}
	if n := len(c.seen); n != r.Len() {
		return fmt.Errorf("shard: %s has %d clips, and %s %d: %w; %s", s.name, n, offsetsName, r.Len(), ErrFormat, cure)
	}
	return nil
}

// checking is the state of a check.
type checking struct {
	ctx    context.Context
	reader *Reader
	index  *indexScanner
	seen   seenClips
}

// next reads a line of the index, or returns io.EOF.
func (c *checking) next() (Record, error) {
	if err := c.ctx.Err(); err != nil {
		return Record{}, err
	}
	r, err := c.index.record()
	if err != nil {
		return r, err
	}
	if i := len(c.seen); i < c.reader.Len() {
		if start, _, err := c.reader.offsets.span(i); err != nil {
			return r, err
		} else if start != c.index.start {
			return r, c.index.wrap(faultf("by %s the line begins at byte %d", offsetsName, start))
		}
	}
	return r, c.index.wrap(c.seen.add(&r))
}

// shards goes through shards and index side by side.
func (c *checking) shards() error {
	err := walkAll(c.reader.dir, func(there Record) error {
		r, err := c.next()
		if err == io.EOF {
			return c.index.wrap(faultf("the index ends before the clip %.200q of %s", there.Clip, there.Shard))
		}
		if err == nil && !r.Equal(&there) {
			err = c.index.wrap(faultf("the clip %.200q in %s (its first frame at byte %d) is another one in the "+
				"shards there: %.200q in %s (byte %d), or its description differs",
				r.Clip, r.Shard, r.Frames[0].Offset, there.Clip, there.Shard, there.Frames[0].Offset))
		}
		return err
	})
	if err != nil {
		return err
	}
	r, err := c.next()
	if err == nil {
		return c.index.wrap(faultf("the clip %.200q is in no shard; by the index it is in %s", r.Clip, r.Shard))
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// seenClips finds clips that come twice.
type seenClips map[[16]byte]struct{}

func (s seenClips) add(r *Record) error {
	sum := sha256.Sum256([]byte(r.Clip))
	key := [16]byte(sum[:16])
	if _, twice := s[key]; twice {
		return faultf("the clip %.200q is there twice", r.Clip)
	}
	s[key] = struct{}{}
	return nil
}

// Contents describes the content of a folder of frames.
type Contents struct {
	Folder string `json:"output"`
	Clips  int    `json:"clips"`
	Frames int    `json:"frames"`
}

// CheckFolder holds the index of a folder and its frames to each other, and counts them.
func CheckFolder(ctx context.Context, dir string) (c Contents, err error) {
	r, err := Open(dir)
	if err != nil {
		return c, err
	}
	defer func() { err = cmp.Or(err, r.Close()) }()
	if err := r.Check(ctx); err != nil {
		return c, err
	}
	return r.contents(dir)
}

// RebuildFolder is rebuild, and counts the content of the new index.
func RebuildFolder(dir string) (c Contents, err error) {
	if err := rebuild(dir); err != nil {
		return c, err
	}
	r, err := Open(dir)
	if err != nil {
		return c, err
	}
	defer func() { err = cmp.Or(err, r.Close()) }()
	return r.contents(dir)
}

func (r *Reader) contents(dir string) (Contents, error) {
	c := Contents{Folder: dir, Clips: r.Len()}
	for record, err := range r.Records() {
		if err != nil {
			return c, err
		}
		c.Frames += len(record.Frames)
	}
	return c, nil
}
