package train

import (
	"slices"
	"testing"

	dense "gorgonia.org/tensor"
)

// Bags that could not be read keep their places, with the mean of the others.
func TestScores_LogitsOf(t *testing.T) {
	s := &Scores{Index: []int{0, 2, 3}, Logits: dense.New(dense.WithShape(3, 2),
		dense.WithBacking([]float32{1, -1, 3, -2, 5, -6}))}
	if got, want := s.LogitsOf(5), []float32{1, -1, 3, -3, 3, -2, 5, -6, 3, -3}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	s.Index = []int{0, 1, 2}
	if got := s.LogitsOf(3); &got[0] != &s.Logits.Float32s()[0] {
		t.Error("all that were read are copied")
	}
}
