package loader

import (
	"context"
	"fmt"

	"nmn/loader/picture"
)

// placing says which frames of another set the bags of a set have.
type placing interface {
	// place returns the bag and the frame of the other set, or an error if there is no such frame.
	place(bag, frame int) (fromBag, fromFrame int, err error)
	// frames returns the number of frames of a bag; of returns it for a bag of the other set.
	frames(bag int, of func(bag int) int) int
}

// chosenBags are bags of another set, whole.
type chosenBags []int

func (c chosenBags) place(bag, frame int) (fromBag, fromFrame int, err error) {
	if bag < 0 || bag >= len(c) {
		return 0, 0, fmt.Errorf("there is no sample %d among %d", bag, len(c))
	}
	return c[bag], frame, nil
}

func (c chosenBags) frames(bag int, of func(int) int) int { return of(c[bag]) }

// placedSource gives frames of another Source.
type placedSource struct {
	from Source
	placing
}

func (s placedSource) Frames(bag int) int { return s.frames(bag, s.from.Frames) }

func (s placedSource) Read(ctx context.Context, bag, frame int, pic *picture.Picture) error {
	bag, frame, err := s.place(bag, frame)
	if err != nil {
		return err
	}
	return s.from.Read(ctx, bag, frame, pic)
}

func (s placedSource) ReadEncoded(ctx context.Context, bag, frame int, buffer []byte) ([]byte, error) {
	bag, frame, err := s.place(bag, frame)
	if err != nil {
		return buffer, err
	}
	return ReadEncoded(ctx, s.from, bag, frame, buffer)
}

func (s placedSource) Identity(ctx context.Context, bag, frame int) (string, error) {
	bag, frame, err := s.place(bag, frame)
	if err != nil {
		return "", err
	}
	return Identity(ctx, s.from, bag, frame)
}

// placedVectors gives frames of other Vectors.
type placedVectors struct {
	Vectors
	placing
}

func (v placedVectors) Frames(bag int) int { return v.frames(bag, v.Vectors.Frames) }

func (v placedVectors) Read(ctx context.Context, bag, frame int, dst []float32) error {
	bag, frame, err := v.place(bag, frame)
	if err != nil {
		return err
	}
	return v.Vectors.Read(ctx, bag, frame, dst)
}

// chosenRows are the rows of some of the bags of others.
type chosenRows struct {
	from Rows
	bags chosenBags
}

func (c chosenRows) Len() int { return len(c.bags) }

func (c chosenRows) KnowsTruth() bool { return c.from.KnowsTruth() }

func (c chosenRows) Read(ctx context.Context, bag int, row *Row) error {
	of, _, err := c.bags.place(bag, 0)
	if err != nil {
		return err
	}
	return c.from.Read(ctx, of, row)
}
