package loader

import (
	"context"

	"nmn/loader/picture"
)

// apartReader reads pictures on a goroutine of its own, for one worker. A decoder cannot be interrupted. When
// the context ends, the worker abandons the goroutine, which owns the memory of its current picture. The
// goroutine ends after that picture.
type apartReader struct {
	picture picture.Picture
	ask     chan frameOf
	answer  chan error // has room for one, so the sender need not wait
}

// frameOf names a frame of a Source.
type frameOf struct{ bag, frame int }

// startReader starts the goroutine, which ends after close.
func startReader(ctx context.Context, source Source, first picture.Picture) *apartReader {
	r := &apartReader{picture: first, ask: make(chan frameOf), answer: make(chan error, 1)}
	go func() {
		for f := range r.ask {
			r.answer <- source.Read(ctx, f.bag, f.frame, &r.picture)
		}
		r.picture.Release() // a picture that was abandoned
	}()
	return r
}

// read reads a frame into the picture, which belongs to the caller until the next read, or its Release. After the error
// of ctx the reader must not be used any more.
func (r *apartReader) read(ctx context.Context, f frameOf) (*picture.Picture, error) {
	select {
	case r.ask <- f:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case err := <-r.answer:
		return &r.picture, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *apartReader) close() { close(r.ask) }
