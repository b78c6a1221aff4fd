package loader

import (
	"context"
	"fmt"

	"nmn/loader/picture"
	"nmn/text"
)

// clipRows reads the rows of clips by their place in the index.
type clipRows struct {
	clips      *Clips
	labels     *ClipLabels
	vocabulary *text.Vocabulary
}

func (r clipRows) Len() int { return r.clips.Len() }

func (r clipRows) KnowsTruth() bool { return r.labels.form.Truth }

func (r clipRows) Read(ctx context.Context, bag int, row *Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	record, err := r.clips.records.get(bag)
	if err != nil {
		return unusable(fmt.Errorf("frames: %w", err))
	}
	return r.labels.read(bag, record.Clip, r.vocabulary, row)
}

// clipStream gives the frames of all clips, a bag each, in the order of the index.
type clipStream struct {
	clips  *Clips
	limits picture.Limits
}

// Frames is the number of frames of a bag; 0 where its line of the index cannot be used, which Read
// reports.
func (s *clipStream) Frames(bag int) int {
	record, err := s.clips.records.get(bag)
	if err != nil {
		return 0
	}
	return len(record.Frames)
}

// Read decodes a frame. The error names file, clip and frame, and wraps ErrCorrupt unless the system
// itself has failed.
func (s *clipStream) Read(ctx context.Context, bag, frame int, pic *picture.Picture) error {
	record, err := s.clips.records.get(bag)
	if err != nil {
		return unusable(fmt.Errorf("frames: %w", err))
	}
	return s.clips.read(ctx, record, frame, pic, s.limits)
}

// WithMaxPixels returns a source of the same frames that refuses frames of more than n pixels.
func (s *clipStream) WithMaxPixels(n int) (Source, error) {
	limited := *s
	limited.limits.MaxPixels = n
	return &limited, limited.limits.Validate()
}

// chosenRows are the rows of some of the bags of others.
type chosenRows struct {
	from    Rows
	indices []int
}

func (c chosenRows) Len() int { return len(c.indices) }

func (c chosenRows) KnowsTruth() bool { return RowsKnowTruth(c.from) }

func (c chosenRows) Read(ctx context.Context, bag int, row *Row) error {
	if bag < 0 || bag >= len(c.indices) {
		return fmt.Errorf("there is no sample %d among %d", bag, len(c.indices))
	}
	return c.from.Read(ctx, c.indices[bag], row)
}

// StreamClips returns the set of all clips of a folder, with the labels of a file, in memory that does not
// grow with their number. The ID of a bag is the name of its clip. Hold returns the same set with its labels
// in memory, for uses that need all labels at once: folds, audits, splits by identifier, scores of all bags.
func StreamClips(name string, clips *Clips, labels *ClipLabels, vocabulary *text.Vocabulary) (*Set, error) {
	if vocabulary == nil || vocabulary.Len() == 0 {
		return nil, fmt.Errorf("%s: labels need a vocabulary of at least one word", name)
	}
	if clips.Len() != labels.Len() {
		return nil, Unusable(fmt.Errorf("%s: the labels %q have %d clips, but there are frames of %d: both must have the "+
			"same clips in one order",
			name, labels.lines.name(), labels.Len(), clips.Len()))
	}
	rows := clipRows{clips, labels, vocabulary}
	return &Set{Name: name, Vocabulary: vocabulary, CaptionsPerSample: labels.form.CaptionsPerSample, Rows: rows,
		ByBlocks: true,
		survey:   &survey{}, Source: &clipStream{clips: clips, limits: picture.DefaultLimits()}}, nil
}
