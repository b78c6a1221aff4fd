//go:build cuda

package cudnn

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
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
		want, sampled := map[string]int{"conv1_2": 4, "conv4_2": 3, "fc6": 1}[l.name]
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

// The name of the code of a plan names the tile, so the numbers of KERNEL_CFG can be checked.
func TestH100_TilesHaveTheirNumbers(t *testing.T) {
	d := describe(t)
	if driver == nil {
		t.Skip("plans that are compiled were not checked: there is no fake driver")
	}
	for _, c := range []Conv{{K: 64, C: 64}, {K: 64, C: 128}, {K: 128, C: 64}, {K: 128, C: 128}} {
		c.N, c.H, c.W, c.R, c.S, c.Pad, c.Precision, c.Wide = 2, 32, 32, 3, 3, 1, BFloat16, true
		u := use{FilterGradient, c}
		if u.hidden() {
			t.Logf("cuDNN %d has none of these tiles for a described card", Version())
			return
		}
		g, err := newGraph(u.Pass, u.Conv, target{properties: d.properties})
		t.Cleanup(g.close)
		if err != nil {
			t.Fatal(err)
		}
		tile := tileOf(c)
		e := Engine{Index: 70, Knobs: splitKnobs(cut{tile, 3})}
		k, err := g.restore(e)
		if err == nil {
			err = g.finish(&k)
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := g.text(k.plan)
		if name := regexp.MustCompile(`convBwdFilter_knob_\w+`).Find(text); err != nil ||
			!bytes.Contains(name, fmt.Appendf(nil, "_%dx%dx", tile.filters, tile.channels)) {
			t.Errorf("%v: %v is %s, %v, want a tile of %d×%d", c, e, name, err, tile.filters, tile.channels)
		}
	}
}
