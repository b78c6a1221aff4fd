package report

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func TestLearningRateSweep_DrawsDecadesAndTheSuggestion(t *testing.T) {
	var points []SweepPoint
	for e := -5.0; e <= 1; e += .25 {
		loss := 10 - e/2 + math.Exp(2*e)
		points = append(points, SweepPoint{math.Pow(10, e), loss + .1, loss})
	}
	var b bytes.Buffer
	check(t, LearningRateSweep(&b, points, 3.2e-3))
	has(t, b.String(), "1e-5", "1e-2", "1e0", "suggested: 0.0032", "learning rate")
	b.Reset()
	if err := LearningRateSweep(&b, nil, 0); err != nil || strings.Contains(b.String(), "suggested") {
		t.Errorf("of no step: %v", err)
	}
}
