package captioner

import (
	"context"
	"fmt"

	"nmn/captioner/metrics"
	"nmn/captioner/s2vt"
)

// Generation is the settings for generating captions.
type Generation struct {
	// Search looks for the likeliest words. A beam of width 1 takes the likeliest word at each step.
	Search s2vt.BeamOptions
	// Batch is the number of clips at a time. It changes no caption.
	Batch int
}

// DefaultGeneration takes the likeliest word at each step, up to 30 of them, and never the unknown word.
func DefaultGeneration() Generation {
	return Generation{Search: s2vt.BeamOptions{Width: 1, MaxLength: 31, Never: []int32{Unknown}}, Batch: 32}
}

// Generate makes a caption for each clip, in their order. progress, which may be nil, is called with the number
// of clips that are done.
func Generate(ctx context.Context, net *s2vt.Net, words *Words, f FrameFeatures, o Generation,
	progress func(done int)) ([]Generated, error) {
	c := net.Config()
	if c.Vocabulary != words.Len() {
		return nil, fmt.Errorf("the captioner has %d words, the vocabulary %d: %w",
			c.Vocabulary, words.Len(), ErrOtherWords)
	}
	if err := Fit(f, c.Frames, c.Features, true); err != nil {
		return nil, err
	}
	size := f.Frames() * f.Width()
	room := make([]float32, max(1, min(o.Batch, f.Clips()))*size)
	generated := make([]Generated, 0, f.Clips())
	for len(generated) < f.Clips() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		first := len(generated)
		batch := make([][]float32, min(len(room)/size, f.Clips()-first))
		for i := range batch {
			row := room[i*size : (i+1)*size]
			if err := f.Features(first+i, row); err != nil {
				return nil, err
			}
			batch[i] = row[:f.FrameCount(first+i)*f.Width()]
		}
		captions, err := net.Beam(batch, o.Search)
		if err != nil {
			return nil, err
		}
		for i, s := range captions {
			generated = append(generated, Generated{f.ID(first + i), words.Caption(s.Words), s.LogProb})
		}
		if progress != nil {
			progress(len(generated))
		}
	}
	return generated, nil
}

// Judge scores a captioner on clips with reference captions.
type Judge struct {
	Words *Words
	Data  *Set
	Generation
	Meteor *metrics.Meteor // nil for one without resources
}

// Score generates a caption for each clip and scores them.
func (j *Judge) Score(ctx context.Context, net *s2vt.Net) (*metrics.Result, []Generated, error) {
	generated, err := Generate(ctx, net, j.Words, j.Data, j.Generation, nil)
	if err != nil {
		return nil, nil, err
	}
	result, err := Score(ctx, j.Data, generated, j.Meteor)
	return result, generated, err
}

// Score scores a caption for each clip of a set, in its order.
func Score(ctx context.Context, s *Set, generated []Generated, meteor *metrics.Meteor) (*metrics.Result, error) {
	items := make([]metrics.Item, len(generated))
	for i, g := range generated {
		items[i] = metrics.Item{ID: g.ID, Candidate: g.Caption, References: s.References(i)}
	}
	return metrics.Evaluate(ctx, items, meteor)
}
