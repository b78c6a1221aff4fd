package loader

import (
	"context"
	"errors"
	"fmt"
)

// encodedSource is a Source of files that can be looked at as they are stored.
type encodedSource interface {
	// ReadEncoded reads the file of a frame into buffer, growing it where needed.
	ReadEncoded(ctx context.Context, bag, frame int, buffer []byte) ([]byte, error)
}

// ReadEncoded reads the file of a frame as it is stored, undecoded, into buffer, which it grows if needed. If
// a file cannot be read, the error wraps ErrCorrupt. If the Source has no files, as for scenes, the error
// wraps errors.ErrUnsupported.
func ReadEncoded(ctx context.Context, s Source, bag, frame int, buffer []byte) ([]byte, error) {
	files, ok := s.(encodedSource)
	if !ok {
		return buffer, fmt.Errorf("pictures: a source of the kind %T has no files: %w", s, errors.ErrUnsupported)
	}
	return files.ReadEncoded(ctx, bag, frame, buffer)
}

func (s *FileSource) ReadEncoded(ctx context.Context, bag, frame int, buffer []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return buffer, err
	}
	if err := s.has(bag, frame); err != nil {
		return buffer, err
	}
	if err := s.load(s.files[bag], &buffer); err != nil {
		return buffer, fmt.Errorf("cannot read %q (image %d): %w", s.files[bag], bag, err)
	}
	return buffer, nil
}

func (s *ClipSource) ReadEncoded(ctx context.Context, bag, frame int, buffer []byte) ([]byte, error) {
	if bag < 0 || bag >= len(s.bags) {
		return buffer, fmt.Errorf("frames: there is no sample %d among %d", bag, len(s.bags))
	}
	return s.clips.load(ctx, s.bags[bag], frame, buffer, s.limits)
}

func (s *clipStream) ReadEncoded(ctx context.Context, bag, frame int, buffer []byte) ([]byte, error) {
	record, err := s.clips.records.get(bag)
	if err != nil {
		return buffer, unusable(fmt.Errorf("frames: %w", err))
	}
	return s.clips.load(ctx, record, frame, buffer, s.limits)
}

func (s singleFrames) ReadEncoded(ctx context.Context, bag, frame int, buffer []byte) ([]byte, error) {
	video, position, err := s.index.place(bag, frame)
	if err != nil {
		return buffer, err
	}
	return ReadEncoded(ctx, s.from, video, position, buffer)
}

func (c chosenSource) ReadEncoded(ctx context.Context, bag, frame int, buffer []byte) ([]byte, error) {
	if bag < 0 || bag >= len(c.indices) {
		return buffer, fmt.Errorf("there is no sample %d among %d", bag, len(c.indices))
	}
	return ReadEncoded(ctx, c.from, c.indices[bag], frame, buffer)
}
