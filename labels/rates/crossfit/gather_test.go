package crossfit

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

func TestGather_PutsEveryBagInItsRow(t *testing.T) {
	p := plan(t, 11, 3, 4)
	all, err := p.Gather(2, func(fold int) (logits []float32, err error) {
		for _, bag := range p.HeldOut(fold) {
			logits = append(logits, float32(bag), -float32(bag))
		}
		return logits, nil
	})
	expect.OK(t, err)
	for bag := range 11 {
		if want := []float32{float32(bag), -float32(bag)}; !slices.Equal(all[2*bag:2*bag+2], want) {
			t.Errorf("bag %d has logits %v", bag, all[2*bag:2*bag+2])
		}
	}
}

func TestGather_RefusesWhatDoesNotFit(t *testing.T) {
	p := plan(t, 6, 2, 4)
	spoiled := []float32{3: float32(math.NaN()), 5: 0}
	for want, logits := range map[string][]float32{"5 logits for 3 samples": spoiled[1:],
		p.IDs[p.HeldOut(0)[1]]: spoiled} {
		if _, err := p.Gather(2, func(int) ([]float32, error) { return logits, nil }); !errors.Is(err, ErrScores) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	broken := errors.New("broken")
	if _, err := p.Gather(2, func(int) ([]float32, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("a fold without scores: %v", err)
	}
}
