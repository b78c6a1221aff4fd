package inject

import (
	"nmn/internal/setting"
	"nmn/loader"
)

// Plan describes the noise to draw for a set.
type Plan struct {
	Kind Kind
	// Share is the share of captions to replace, as in ReplaceCaptions (all kinds but Flips).
	Share float64
	// Missing and Incorrect are the probabilities that a label that holds goes missing, and that one that
	// does not hold is set (Flips). If RatesFile is not empty, it has both for each word instead.
	Missing, Incorrect float64
	RatesFile          string
	Seed               uint64
}

// Draw draws the noise. A share or rate that the set cannot have is a *setting.Error.
func (p Plan) Draw(set *loader.Set) (*Injection, error) {
	if p.Kind != Flips {
		if _, err := newReplacementDraw(set, p.Kind, p.Share, p.Seed); err != nil {
			return nil, &setting.Error{Key: "share", Reason: err}
		}
		return ReplaceCaptions(set, p.Kind, p.Share, p.Seed)
	}
	rates := uniformRates(p.Missing, p.Incorrect)
	if p.RatesFile != "" {
		var err error
		if rates, err = ReadFlipRates(p.RatesFile, set.Vocabulary); err != nil {
			return nil, err
		}
	}
	if err := checkFlipRates(rates, set.Vocabulary.Len()); err != nil {
		return nil, &setting.Error{Key: "flip_rates", Reason: err}
	}
	return FlipLabels(set, rates, p.Seed)
}
