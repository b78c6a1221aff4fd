package runfeatures

import (
	"context"
	"slices"

	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/text"

	dense "gorgonia.org/tensor"
)

// FramesOf returns the pictures of a set, each a bag of its own, and the offset at which each bag begins; offsets are
// nil if a bag is one picture. Labels are left out: they are not read there.
func FramesOf(ctx context.Context, set *loader.Set) (frames *loader.Set, offsets []int, err error) {
	if !set.Videos() {
		return set, nil, nil
	}
	lean := *set
	lean.Truth, lean.Counts, lean.Captions, lean.CaptionsInUse, lean.Standard = nil, nil, nil, nil, nil
	if set.Rows == nil {
		if lean.Vocabulary, err = text.NewVocabulary([]text.Word{{Text: "frame", POS: text.Others}}); err != nil {
			return nil, nil, err
		}
		lean.Labels = dense.New(dense.WithShape(set.Len(), 1), dense.WithBacking(make([]uint8, set.Len())))
	}
	frames, index, err := loader.Frames(ctx, &lean)
	if err != nil {
		return nil, nil, err
	}
	return frames, index.Offsets(), nil
}

// BagOf returns the bag that a frame belongs to.
func BagOf(offsets []int, frame int) int {
	if offsets == nil {
		return frame
	}
	after, _ := slices.BinarySearch(offsets, frame+1)
	return after - 1
}

func framesIn(d *dataset.Splits) (frames int) {
	for _, set := range d.Distinct() {
		frames += set.AllFrames()
	}
	return frames
}
