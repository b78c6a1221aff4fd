package text

import (
	"fmt"
	"testing"
)

func TestPlural(t *testing.T) {
	for p, want := range map[Plural]string{"clips": "clips, clip, 0 clips, 1 clip",
		"classes": "classes, class, 0 classes, 1 class", "": "samples, sample, 0 samples, 1 sample"} {
		if got := fmt.Sprintf("%v, %s, %s, %s", p, p.One(), p.Count(0), p.Count(1)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
