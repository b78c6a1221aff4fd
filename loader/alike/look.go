package alike

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"nmn/internal/parallel"
	"nmn/loader"
	"nmn/loader/picture"
)

// Look is a summary of a bag: of a picture, of the middle frame of a clip, or of a row of features.
type Look struct {
	Content [16]byte // first half of the SHA-256 of its file or its features
	Sign    Signature
	Read    bool // Content is known
	Signed  bool // Sign is known
}

// At looks at the bags of a set from one up to another, on all processors. Bags with features are looked at by the
// pictures that these were computed from, if there are any. A picture that cannot be used has a zero Look, and so has
// one that is drawn rather than read. Pictures are decoded by the settings of as. It returns an error of the system or
// of ctx.
func At(ctx context.Context, set *loader.Set, from, to int, as picture.Picture) ([]Look, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	looks := make([]Look, to-from)
	readers := sync.Pool{New: func() any { return newReader(set, as) }}
	parallel.Each(len(looks), func(i int) {
		if ctx.Err() != nil {
			return
		}
		r := readers.Get().(*reader)
		defer readers.Put(r)
		err := r.look(ctx, from+i, &looks[i])
		if err != nil && !errors.Is(err, loader.ErrCorrupt) && !errors.Is(err, errors.ErrUnsupported) {
			cancel(fmt.Errorf("near-duplicates: sample %s: %w", set.IDs[from+i], err))
		}
	})
	return looks, context.Cause(ctx)
}

// reader has the memory of one goroutine.
type reader struct {
	set     *loader.Set
	picture picture.Picture
	bytes   []byte
	row     []float32
}

func newReader(set *loader.Set, as picture.Picture) *reader {
	r := &reader{set: set, picture: as}
	if set.Vectors != nil {
		r.row = make([]float32, set.Vectors.Width())
	}
	return r
}

func (r *reader) look(ctx context.Context, bag int, l *Look) (err error) {
	source := r.set.Preview()
	if source == nil {
		err = r.features(ctx, bag)
	} else {
		r.bytes, err = loader.ReadEncoded(ctx, source, bag, source.Frames(bag)/2, r.bytes)
	}
	if err != nil {
		return err
	}
	sum := sha256.Sum256(r.bytes)
	l.Content, l.Read = [16]byte(sum[:]), true
	if source == nil {
		return nil
	}
	if err := picture.Decode(r.bytes, &r.picture); err != nil {
		*l = Look{}
		return err
	}
	l.Sign, l.Signed = Sign(&r.picture)
	return nil
}

// features reads the features of all frames of a bag.
func (r *reader) features(ctx context.Context, bag int) error {
	v := r.set.Vectors
	r.bytes = r.bytes[:0]
	for frame := range v.Frames(bag) {
		if err := v.Read(ctx, bag, frame, r.row); err != nil {
			return err
		}
		// Append fails only for types without a size.
		r.bytes, _ = binary.Append(r.bytes, binary.LittleEndian, r.row)
	}
	return nil
}
