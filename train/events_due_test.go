package train

import "testing"

// The curve of a short training has points, and the curve of a long one has no more than requested.
func TestDue_ShortTrainingsLogMoreOften(t *testing.T) {
	for _, c := range []struct{ steps, every, want int }{{12, 20, 12}, {100, 20, 51}, {1000, 20, 51}, {5000, 20, 251},
		{40, 1, 40}} {
		logged := 0
		for step := 1; step <= c.steps; step++ {
			if p := (Progress{Step: step, Steps: c.steps}); p.Due(c.every) {
				logged++
			}
		}
		if logged != c.want {
			t.Errorf("%d steps, each %d: %d are logged, want %d", c.steps, c.every, logged, c.want)
		}
	}
	if p := (Progress{Step: 3}); p.Due(20) {
		t.Error("the length is unknown, and step 3 is logged")
	}
}
