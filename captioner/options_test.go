package captioner

import (
	"testing"

	"nmn/captioner/s2vt"
)

// The vocabulary gives its first ids to what the net takes them for.
func TestWords_IdsAreThoseOfTheNet(t *testing.T) {
	if Pad != s2vt.PAD || Begin != s2vt.BOS || End != s2vt.EOS || Unknown != s2vt.Reserved {
		t.Errorf("the vocabulary has %d, %d, %d and %d, the net %d, %d, %d and words from %d",
			Pad, Begin, End, Unknown, s2vt.PAD, s2vt.BOS, s2vt.EOS, s2vt.Reserved)
	}
}
