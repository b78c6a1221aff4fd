package session

import (
	"testing"
	"time"

	"nmn/captioner"
	"nmn/train"
)

// 9 captions in batches of 4 leave a batch of 1, which says nothing of the others.
func TestStopwatch_TakesTheMeanOfFullBatchesAfterTheFirst(t *testing.T) {
	var w stopwatch
	for i, e := range []struct {
		captions int
		took     time.Duration
	}{{4, 90 * time.Second}, {4, 3 * time.Second}, {1, time.Millisecond}, {4, 5 * time.Second}} {
		w.see(captioner.StepDone{Progress: train.Progress{Step: i + 1, Duration: e.took}, Captions: e.captions})
		if i == 0 && w.mean() != 90*time.Second {
			t.Errorf("the only step takes %v", w.mean())
		}
	}
	if w.mean() != 4*time.Second || w.captions != 4 {
		t.Errorf("%d captions take %v, want 4 in 4 s", w.captions, w.mean())
	}
}
