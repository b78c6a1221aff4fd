package mlflow

import (
	"slices"
	"testing"
)

// MLflow takes no * in a key: two of these three become one, and which stays is no matter of chance.
func TestPairsOf_AreInOrderAndTheSameEachTime(t *testing.T) {
	want := []pair{{"a", "3"}, {"k_", "1"}, {"z", "4"}}
	for range 50 {
		got := pairsOf(map[string]string{"z": "4", "k*": "2", "k+": "1", "a": "3"}, longestTag)
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}
