package frames

import (
	"strings"
	"testing"
)

// JPEG has 4:2:0 in 8 bits: frames of any other layout would be read as pictures of noise.
func TestY4M_RefusesOtherLayouts(t *testing.T) {
	read := func(layout string) error {
		_, err := newY4M(strings.NewReader("YUV4MPEG2 W16 H8 F25:1 "+layout+"\n"), 1000)
		return err
	}
	for _, layout := range []string{"", "C420", "C420jpeg", "C420mpeg2", "C420paldv"} {
		if err := read(layout); err != nil {
			t.Errorf("layout %q: %v", layout, err)
		}
	}
	for _, layout := range []string{"C422", "C444", "C411", "Cmono", "C420p10", "C420p12", "C422p10"} {
		if err := read(layout); err == nil || !strings.Contains(err.Error(), `"`+layout+`"`) ||
			!strings.Contains(err.Error(), "want 8 bits and 4:2:0") {
			t.Errorf("layout %q: error %v", layout, err)
		}
	}
}
