package inject

import (
	"nmn/internal/setting"
	"nmn/loader"
)

// Plan says which noise to draw for a set.
type Plan struct {
	Kind Kind
	// Rate is the share of each bag's captions to replace (Captions).
	Rate float64
	// Missing and Incorrect are the probabilities that a label that holds goes missing, and that one that does not
	// hold is set (Flips). RatesFile, where it is not empty, has both for each word instead.
	Missing, Incorrect float64
	RatesFile          string
	Seed               uint64
}

// Draw draws the noise. A rate that the set cannot have is a *setting.Error.
func (p Plan) Draw(set *loader.Set) (*Injection, error) {
	if p.Kind == Captions {
		n, err := CaptionsForRate(set, p.Rate)
		if err != nil {
			return nil, &setting.Error{Key: "rate", Reason: err}
		}
		return ReplaceCaptions(set, n, p.Seed)
	}
	rates := UniformRates(p.Missing, p.Incorrect)
	if p.RatesFile != "" {
		var err error
		if rates, err = ReadFlipRates(p.RatesFile, set.Vocabulary); err != nil {
			return nil, err
		}
	}
	if err := CheckFlipRates(rates, set.Vocabulary.Len()); err != nil {
		return nil, &setting.Error{Key: "flip_rates", Reason: err}
	}
	return FlipLabels(set, rates, p.Seed)
}
