package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"nmn/loader/picture"
	"nmn/loader/shard"
)

// ErrNoFrames is why a clip that the frames do not have is left out.
var ErrNoFrames = errors.New("it has no frames")

// Clips are the frames of video clips in a folder that package shard reads: tar shards with an index. They are
// safe for concurrent use.
type Clips struct {
	dir     string
	reader  *shard.Reader
	buffers *sync.Pool // holds *[]byte: the bytes of a picture while it is decoded

	mutex   sync.Mutex
	records map[int]*shard.Record // some of those that were asked for last
}

// OpenClips opens a folder. Close it when it is no longer used.
func OpenClips(dir string) (*Clips, error) {
	reader, err := shard.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("frames: %w", err)
	}
	return &Clips{dir: dir, reader: reader, records: map[int]*shard.Record{},
		buffers: &sync.Pool{New: func() any { return new([]byte) }}}, nil
}

// Close closes all files. Reads that follow fail.
func (c *Clips) Close() error { return c.reader.Close() }

// Len is the number of clips.
func (c *Clips) Len() int { return c.reader.Len() }

// heldRecords is how many records are held: enough for several batches, so that the frames of a clip share one reading
// of its line. A record of 26 frames takes a kilobyte.
const heldRecords = 1024

// record returns the frames of a clip by its place in the index. The record must not be changed.
func (c *Clips) record(clip int) (*shard.Record, error) {
	c.mutex.Lock()
	held := c.records[clip]
	c.mutex.Unlock()
	if held != nil {
		return held, nil
	}
	record, err := c.reader.Record(clip) // if two callers miss at once, both read, and neither waits
	if err != nil {
		return nil, unusable(fmt.Errorf("frames: %w", err))
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for other := range c.records {
		if len(c.records) < heldRecords {
			break
		}
		delete(c.records, other)
	}
	c.records[clip] = &record
	return &record, nil
}

// framePlace returns the location of a frame.
func framePlace(r *shard.Record, frame int) string {
	f := r.Frames[frame]
	return fmt.Sprintf("frame %d of the clip %q (%s, byte %d, %d bytes)",
		frame, Excerpt(r.Clip), r.Shard, f.Offset, f.Size)
}

// Settings returns the settings with which the frames were extracted, as JSON from the index; empty if it has
// none.
func (c *Clips) Settings() json.RawMessage { return c.reader.Header().Settings }

// ClipTable finds clips by their name, as ClipNames does.
type ClipTable struct {
	clips   *Clips
	names   ClipNames
	records []shard.Record
	broken  error // the first line of the index that cannot be used
}

// Table reads the whole index, and holds it: a kilobyte for a clip of 26 frames. A line of the index that cannot be
// used is an error only once a clip is asked for that no other line has.
func (c *Clips) Table() (*ClipTable, error) {
	t := &ClipTable{clips: c, records: make([]shard.Record, 0, c.Len())}
	for i := range c.Len() {
		record, err := c.reader.Record(i)
		if errors.Is(err, shard.ErrFormat) {
			if t.broken == nil {
				t.broken = err
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("frames: %w", err)
		}
		t.names.Add(record.Clip)
		t.records = append(t.records, record)
	}
	return t, nil
}

// Names lists the names of all clips, in the order of the index.
func (t *ClipTable) Names() []string { return t.names.Names() }

// Find returns the position in Names of the clip that a name means, or an error if its frames cannot be used.
func (t *ClipTable) Find(clip string) (int, error) {
	i, err := t.names.Find(clip)
	switch {
	case err != nil:
		return -1, fmt.Errorf("%w (%q)", err, t.clips.dir)
	case i >= 0:
		return i, nil
	case t.broken != nil:
		return -1, fmt.Errorf("%w in %q, unless they are in a line of the index that cannot be used: %w",
			ErrNoFrames, t.clips.dir, t.broken)
	}
	return -1, fmt.Errorf("%w in %q", ErrNoFrames, t.clips.dir)
}

// Has returns why the frames of a clip cannot be used, nil if they can.
func (t *ClipTable) Has(clip string) error {
	_, err := t.Find(clip)
	return err
}

// Source gives the frames of clips by name: bag i is ids[i].
func (t *ClipTable) Source(ids []string) (*ClipSource, error) {
	bags := make([]*shard.Record, len(ids))
	for i, id := range ids {
		at, err := t.Find(id)
		if err != nil {
			return nil, fmt.Errorf("frames: sample %d (%s): %w", i, Excerpt(id), err)
		}
		bags[i] = &t.records[at]
	}
	return &ClipSource{t.clips, func(bag int) (*shard.Record, error) {
		if bag < 0 || bag >= len(bags) {
			return nil, fmt.Errorf("frames: there is no sample %d among %d", bag, len(bags))
		}
		return bags[bag], nil
	}}, nil
}

// ClipSource gives the frames of clips, a bag each.
type ClipSource struct {
	clips  *Clips
	record func(bag int) (*shard.Record, error)
}

// Frames is the number of frames of a bag; 0 if its line of the index cannot be used, which Read reports.
func (s *ClipSource) Frames(bag int) int {
	record, err := s.record(bag)
	if err != nil {
		return 0
	}
	return len(record.Frames)
}

// Read decodes a frame. The error names file, clip and frame, and wraps ErrCorrupt unless the system
// itself has failed.
func (s *ClipSource) Read(ctx context.Context, bag, frame int, pic *picture.Picture) (err error) {
	buffer := s.clips.buffers.Get().(*[]byte)
	defer s.clips.buffers.Put(buffer)
	if *buffer, err = s.ReadEncoded(ctx, bag, frame, *buffer); err != nil {
		return err
	}
	record, err := s.record(bag)
	if err != nil {
		return err
	}
	if err := picture.Decode(*buffer, pic); err != nil {
		return fmt.Errorf("cannot decode %s: %w", framePlace(record, frame), err)
	}
	if pic.Width != record.PictureWidth || pic.Height != record.PictureHeight {
		return fmt.Errorf("%w: %s has %d×%d pixels, the index says %d×%d", ErrCorrupt, framePlace(record, frame),
			pic.Width, pic.Height, record.PictureWidth, record.PictureHeight)
	}
	return nil
}

// ReadEncoded reads the picture of a frame as it is stored; see the function of that name.
func (s *ClipSource) ReadEncoded(ctx context.Context, bag, frame int, buffer []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return buffer, err
	}
	record, err := s.record(bag)
	if err != nil {
		return buffer, err
	}
	if frame < 0 || frame >= len(record.Frames) {
		return buffer, fmt.Errorf("%w: the clip %q has %d frames, there is no frame %d",
			ErrCorrupt, Excerpt(record.Clip), len(record.Frames), frame)
	}
	if size := record.Frames[frame].Size; size > picture.MaxFileBytes {
		return buffer, fmt.Errorf("%w: frame %d of the clip %q has %d bytes, more than the limit of %d",
			ErrCorrupt, frame, Excerpt(record.Clip), size, picture.MaxFileBytes)
	}
	if buffer, err = s.clips.reader.ReadFrame(record, frame, buffer); err != nil {
		return buffer, unusable(err)
	}
	return buffer, nil
}
