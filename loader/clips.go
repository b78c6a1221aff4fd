package loader

import (
	"context"
	"errors"
	"fmt"
	slashed "path"
	"strings"
	"sync"

	"nmn/loader/picture"
	"nmn/loader/shard"
)

// ErrNoFrames is why a clip that the frames do not have is left out.
var ErrNoFrames = errors.New("it has no frames")

// Clips are the frames of video clips in a folder that package shard reads: tar shards or folders of
// pictures, with an index. They are safe for concurrent use.
type Clips struct {
	dir     string
	reader  *shard.Reader
	records *recordCache
	buffers *sync.Pool // of *[]byte: the bytes of a picture while it is decoded
}

// OpenClips opens a folder. Close it when it is no longer used.
func OpenClips(dir string) (*Clips, error) {
	reader, err := shard.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("frames: %w", err)
	}
	return &Clips{dir: dir, reader: reader, records: newRecordCache(reader),
		buffers: &sync.Pool{New: func() any { return new([]byte) }}}, nil
}

// Close closes all files. Reads that follow fail.
func (c *Clips) Close() error { return c.reader.Close() }

// Len is the number of clips.
func (c *Clips) Len() int { return c.reader.Len() }

// read decodes a frame of a clip.
func (c *Clips) read(ctx context.Context, record *shard.Record, frame int, pic *picture.Picture,
	limits picture.Limits) (err error) {
	buffer := c.buffers.Get().(*[]byte)
	defer c.buffers.Put(buffer)
	if *buffer, err = c.load(ctx, record, frame, *buffer, limits); err != nil {
		return err
	}
	if err := picture.Decode(*buffer, pic, limits.MaxPixels); err != nil {
		return fmt.Errorf("cannot decode %s: %w", framePlace(record, frame), err)
	}
	if pic.Width != record.PictureWidth || pic.Height != record.PictureHeight {
		return fmt.Errorf("%w: %s has %d×%d pixels, the index says %d×%d", ErrCorrupt, framePlace(record, frame),
			pic.Width, pic.Height, record.PictureWidth, record.PictureHeight)
	}
	return nil
}

// load reads the picture of a frame into buffer, undecoded.
func (c *Clips) load(ctx context.Context, record *shard.Record, frame int, buffer []byte,
	limits picture.Limits) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return buffer, err
	}
	if frame < 0 || frame >= len(record.Frames) {
		return buffer, fmt.Errorf("%w: the clip %q has %d frames, there is no frame %d",
			ErrCorrupt, Excerpt(record.Clip), len(record.Frames), frame)
	}
	if size := record.Frames[frame].Size; size > limits.MaxBytes {
		return buffer, fmt.Errorf("%w: frame %d of the clip %q has %d bytes, more than the limit of %d",
			ErrCorrupt, frame, Excerpt(record.Clip), size, limits.MaxBytes)
	}
	buffer, err := c.reader.ReadFrame(record, frame, buffer)
	if err != nil {
		return buffer, unusable(err)
	}
	return buffer, nil
}

// framePlace says where a frame lies.
func framePlace(r *shard.Record, frame int) string {
	f := r.Frames[frame]
	if r.Shard == "" {
		return fmt.Sprintf("frame %d of the clip %q (folder %s, %d bytes)",
			frame, Excerpt(r.Clip), Excerpt(r.Key), f.Size)
	}
	return fmt.Sprintf("frame %d of the clip %q (%s, byte %d, %d bytes)",
		frame, Excerpt(r.Clip), r.Shard, f.Offset, f.Size)
}

// ClipTable finds clips by their name.
type ClipTable struct {
	clips   *Clips
	records map[string]*shard.Record
	broken  error // the first line of the index that cannot be used
}

// Table reads the whole index, and holds it: a kilobyte for a clip of 26 frames. The name of a clip is that of its
// file, without folders and ending: "TrainValVideo/video7.mp4" is video7. Two clips of one name are an error; a line
// of the index that cannot be used is one only once a clip is asked for that no other line has.
func (c *Clips) Table() (*ClipTable, error) {
	t := &ClipTable{clips: c, records: make(map[string]*shard.Record, c.Len())}
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
		name := clipBase(record.Clip)
		if first, ok := t.records[name]; ok {
			return nil, fmt.Errorf("frames: the clips %q and %q of the index are both %q by name: keep one",
				Excerpt(first.Clip), Excerpt(record.Clip), Excerpt(name))
		}
		t.records[name] = &record
	}
	return t, nil
}

// clipBase is the name under which annotations know a clip.
func clipBase(clip string) string {
	base := slashed.Base(clip)
	return strings.TrimSuffix(base, slashed.Ext(base))
}

// Has returns why the frames of a clip cannot be used, nil where they can.
func (t *ClipTable) Has(clip string) error {
	if _, ok := t.records[clip]; ok {
		return nil
	}
	if t.broken != nil {
		return fmt.Errorf("%w in %q, unless they are in a line of the index that cannot be used: %w",
			ErrNoFrames, t.clips.dir, t.broken)
	}
	return fmt.Errorf("%w in %q", ErrNoFrames, t.clips.dir)
}

// Source gives the frames of clips by name: bag i is ids[i].
func (t *ClipTable) Source(ids []string) (*ClipSource, error) {
	s := &ClipSource{clips: t.clips, limits: picture.DefaultLimits(), bags: make([]*shard.Record, len(ids))}
	for i, id := range ids {
		if err := t.Has(id); err != nil {
			return nil, fmt.Errorf("frames: bag %d (%s): %w", i, Excerpt(id), err)
		}
		s.bags[i] = t.records[id]
	}
	return s, nil
}

// ClipSource gives the frames of some clips, a bag each.
type ClipSource struct {
	clips  *Clips
	limits picture.Limits
	bags   []*shard.Record
}

// Frames is the number of frames of a bag.
func (s *ClipSource) Frames(bag int) int { return len(s.bags[bag].Frames) }

// Read decodes a frame. The error names file, clip and frame, and wraps ErrCorrupt unless the system
// itself has failed.
func (s *ClipSource) Read(ctx context.Context, bag, frame int, pic *picture.Picture) error {
	if bag < 0 || bag >= len(s.bags) {
		return fmt.Errorf("frames: there is no bag %d among %d", bag, len(s.bags))
	}
	return s.clips.read(ctx, s.bags[bag], frame, pic, s.limits)
}

// WithMaxPixels is a source of the same frames that refuses those of more than n pixels.
func (s *ClipSource) WithMaxPixels(n int) (Source, error) {
	limited := *s
	limited.limits.MaxPixels = n
	return &limited, limited.limits.Validate()
}
