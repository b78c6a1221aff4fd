package em

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"nmn/eval"
)

// A label that is neither 0 nor 1 is named by its place, wherever it stands.
func TestRun_NamesALabelThatIsNone(t *testing.T) {
	_, z := problem()
	good := Fixed(make([]float64, bags*classes))
	for at, says := range map[int]string{0: "row 1, column 1: label 2", classes + 1: "row 2, column 2: label 2",
		len(z) - 1: "label 2"} {
		bad := slices.Clone(z)
		bad[at] = 2
		if _, err := Run(t.Context(), good, bad, bags, classes, startRates(), DefaultOptions()); !errors.Is(err,
			eval.ErrValue) || !strings.Contains(err.Error(), says) {
			t.Errorf("label %d: %v, want an error that says %q", at, err, says)
		}
	}
}
