package s2vt

import "fmt"

// BeamOptions are the settings of the search for captions.
type BeamOptions struct {
	// Width is the number of hypotheses of each clip, from 1.
	Width int
	// MaxLength is the most words of a caption, EOS among them.
	MaxLength int
	// LengthPenalty a divides the log-probability of a hypothesis of L words (EOS among them) by L^a before
	// hypotheses are compared: 0 for none, which favours short captions; 1 for the mean over words.
	LengthPenalty float64
	// Never are words that are never generated, in addition to PAD and BOS: for example the unknown word.
	Never []int32
}

// Validate names the first option that is out of range, for a vocabulary.
func (o BeamOptions) Validate(vocabulary int) error {
	switch {
	case o.Width < 1 || o.Width > 1<<12:
		return fmt.Errorf("s2vt: beam width is %d, want 1 to %d", o.Width, 1<<12)
	case o.MaxLength < 1 || o.MaxLength > 1<<12:
		return fmt.Errorf("s2vt: the length of a caption is limited to %d words, want 1 to %d", o.MaxLength, 1<<12)
	case !(o.LengthPenalty >= 0 && o.LengthPenalty <= 10):
		return fmt.Errorf("s2vt: length penalty is %v, want 0 to 10", o.LengthPenalty)
	}
	for _, w := range o.Never {
		if w < 0 || int(w) >= vocabulary || w == EOS {
			return fmt.Errorf("s2vt: word %d cannot be forbidden: want 0 to %d, and not %d, which ends a caption",
				w, vocabulary-1, EOS)
		}
	}
	return nil
}

// Caption is a generated caption of a clip.
type Caption struct {
	Words   []int32 // without EOS
	LogProb float64 // of the words, and of EOS where it was said; natural logarithm
	Score   float64 // LogProb after length normalisation: what hypotheses are compared by
	Ended   bool    // EOS was said; else the caption was cut off
}
