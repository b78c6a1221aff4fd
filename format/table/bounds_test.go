package table

import (
	"errors"
	"strings"
	"testing"
)

// Counts are held as bytes, and agreement needs two captions: other numbers are refused before the file is read, and
// with the reason.
func TestReadCounts_BoundsOfCaptions(t *testing.T) {
	file := writeFile(t, "c.csv", "cat\n1\n")
	for captions, ok := range map[int]bool{-1: false, 0: false, 1: false, 2: true, 255: true, 256: false, 1000: false} {
		_, err := ReadCounts(file, captions)
		if (err == nil) != ok || err != nil && (!errors.Is(err, ErrValue) || !strings.Contains(err.Error(),
			"2 to 255")) {
			t.Errorf("%d captions: %v", captions, err)
		}
	}
	if m, err := ReadCounts(writeFile(t, "c.csv", "cat,dog\n255,0\n"), 255); err != nil || m.Values[0] != 255 {
		t.Errorf("255 of 255: %v", err)
	}
}
