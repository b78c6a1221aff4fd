package captioner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nmn/captioner/metrics"
	"nmn/captioner/s2vt"
)

// Options are the parts of a Trainer.
type Options struct {
	Config Config
	Net    *s2vt.Net // ready to learn: after Init or Load. The Trainer does not close it
	Data   Source
	// Words is the vocabulary that captions are encoded with. It goes into every checkpoint, so that captions
	// can be generated from one alone.
	Words *Words
	// Validate scores the net's captions for a validation set; the largest CIDEr-D wins. It may run the net and must
	// not change it. Nil for no validation.
	Validate func(context.Context, *s2vt.Net) (metrics.Scores, error)
	// Directory holds the checkpoints last.safetensors, previous.safetensors and best.safetensors; empty for none.
	Directory string
	// Clock returns the time for Config.CheckpointMinutes; nil for time.Now.
	Clock     func() time.Time
	Observers []Observer
}

// check refuses, before anything is learned, what does not fit together.
func (o *Options) check() error {
	if o.Net == nil || o.Data == nil || o.Words == nil {
		return errors.New("captioning: a net, a source of clips and a vocabulary are needed")
	}
	c := o.Net.Config()
	switch {
	case o.Data.Width() != c.Features:
		return fmt.Errorf("captioning: the features of a frame are %d, the net takes %d: they come from another model, "+
			"or from another set of concepts",
			o.Data.Width(), c.Features)
	case o.Data.Frames() > c.Frames:
		return fmt.Errorf("captioning: clips have up to %d frames, the net takes %d: take fewer frames of each clip, "+
			"or make a net for more",
			o.Data.Frames(), c.Frames)
	case o.Words.Len() != c.Vocabulary:
		return fmt.Errorf("captioning: the vocabulary has %d words, the net %d: %w",
			o.Words.Len(), c.Vocabulary, ErrOtherWords)
	case o.Config.Patience > 0 && o.Validate == nil:
		return fmt.Errorf("captioning: patience is %d, but there is nothing to validate on", o.Config.Patience)
	}
	return o.checkCaptions()
}

// checkCaptions looks at every caption, so that no step fails after hours.
func (o *Options) checkCaptions() error {
	c, pairs := o.Net.Config(), 0
	for clip := range o.Data.Clips() {
		if frames := o.Data.FrameCount(clip); frames < 1 || frames > o.Data.Frames() {
			return fmt.Errorf("captioning: clip %q has %d frames, want 1 to %d",
				o.Data.ID(clip), frames, o.Data.Frames())
		}
		for i, words := range o.Data.Captions(clip) {
			if len(words) == 0 {
				return fmt.Errorf("captioning: caption %d of clip %q has no words: leave it out", i+1, o.Data.ID(clip))
			}
			for _, w := range words {
				if w < s2vt.Reserved || int(w) >= c.Vocabulary {
					return fmt.Errorf("captioning: caption %d of clip %q has word %d, want %d to %d: it was encoded "+
						"with another vocabulary",
						i+1, o.Data.ID(clip), w, s2vt.Reserved, c.Vocabulary-1)
				}
			}
			pairs++
		}
	}
	if pairs == 0 {
		return fmt.Errorf("captioning: none of %d clips has a caption to learn from", o.Data.Clips())
	}
	return nil
}
