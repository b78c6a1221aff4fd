//go:build cuda

package cudnn

import (
	"errors"
	"testing"
)

// Gradients of filters in float32 are cut into slices if their tiles would leave multiprocessors idle. All
// such plans can be built within the scratch memory of Options.
func TestH100_CutsFilterGradientsIntoSlices(t *testing.T) {
	d := describe(t)
	if driver == nil {
		t.Skip("plans that are compiled were not checked: there is no fake driver")
	}
	most := Options{}.withDefaults().MaxWorkspace
	for _, l := range vgg16 {
		want, sampled := map[string]int{"conv1_2": 3, "conv4_2": 3, "fc6": 1}[l.name]
		if !sampled {
			continue
		}
		c := l.at(26, 565, BFloat16)
		c.Wide = true
		plans, err := d.Plans(FilterGradient, c, 32)
		if (use{FilterGradient, c}).hidden() && errors.Is(err, ErrUnsupported) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(plans) < want {
			t.Errorf("%s: %d plans, want at least %d", l.name, len(plans), want)
		}
		for _, p := range plans {
			t.Logf("%-8s %v: %.1f MB of scratch memory", l.name, p, float64(p.Workspace)/1e6)
			if p.Workspace > most {
				t.Errorf("%s: %v needs %d bytes of scratch memory", l.name, p, p.Workspace)
			}
		}
	}
}
