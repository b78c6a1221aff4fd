package main

import (
	"strings"
	"testing"
	"time"

	"nmn/run"
)

// The speed is that of the pictures that were in the step that was timed.
func TestMeasuredText_CountsThePicturesOfTheStep(t *testing.T) {
	w := run.Workload{Pictures: 32, FLOP: 32e9}
	full := run.Measured{Step: 2 * time.Second, Bags: 32, Images: 32, Batch: 32, Mean: 16.5, Steps: 10}
	if got := measuredText(full, w); !strings.Contains(got, "(16 images/s, 16.0 GFLOP/s): about 10s") ||
		strings.Contains(got, "full batch") {
		t.Errorf("of a full batch: %s", got)
	}
	few := run.Measured{Step: 2 * time.Second, Bags: 1, Images: 1, Batch: 32, Mean: 1, Steps: 10}
	w.Pictures, w.FLOP = 1, 1e9
	if got := measuredText(few, w); !strings.Contains(got, "(0.5 images/s, 0.5 GFLOP/s): about 20s") ||
		!strings.Contains(got, "no full batch of 32: steps of at most 1 were timed") {
		t.Errorf("of one picture: %s", got)
	}
}
