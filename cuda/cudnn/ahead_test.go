//go:build cuda

package cudnn

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stepShapes are the passes among whose plans a training step of VGG16 in bfloat16 chooses, each once: forms of the
// bias, masks of data gradients within a block, and filter gradients that are rounded.
func stepShapes(batch, picture int) (list []Shape) {
	seen := map[Shape]bool{}
	add := func(pass Pass, c Conv) {
		if s := (Shape{pass, c}); !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	for _, l := range vgg16 {
		c := l.at(batch, picture, BFloat16)
		for _, u := range l.uses(c) {
			if l.name == "fc6" && u.Pass == DataGradient { // by columns
				u.Conv = Conv{N: c.N, H: c.P(), W: c.Q(), C: c.R * c.S * c.C, K: c.K, R: 1, S: 1, Precision: c.Precision}
			}
			add(u.Pass, u.Conv)
			switch narrow := c; {
			case u.Pass == ForwardBiasReLU:
				narrow.NarrowBias = true
				add(u.Pass, narrow)
				add(Forward, c)
			case u.Pass == FilterGradient:
				add(FilterGradient, c)
			case !strings.HasSuffix(l.name, "_1") && l.name != "fc6":
				add(MaskedDataGradient, c)
				add(DataGradient, c)
			}
		}
	}
	return list
}

// The waits of a first step at 26 frames of 565 pixels, apart from measuring. With no stored plans these are
// the heuristics and the building of all candidates, on all cores. With all plans stored it is reading their
// texts.
func TestH100_PlansOfAFirstStep(t *testing.T) {
	if driver == nil {
		t.Skip("plans that are compiled were not checked: there is no fake driver")
	}
	d := describe(t)
	at := target{properties: d.properties}
	o := Options{}.withDefaults()
	f := newForge(o.limits(), func(work func() error) error { return work() }, slices.Repeat([]target{at}, o.Threads)...)
	shapes, p := stepShapes(26, 565), openPlans(t.TempDir(), Version(), "NVIDIA H100")
	shapes = slices.DeleteFunc(shapes, func(s Shape) bool { return use{s.Pass, s.Conv}.hidden() })
	if testing.Short() {
		shapes = shapes[:8]
	}
	began, before := time.Now(), processorTime(t)
	for _, s := range shapes {
		f.start(s, nil)
	}
	built, compiled := 0, 0
	for _, s := range shapes {
		waited := time.Now()
		offers, err := f.take(s, nil)
		if err != nil {
			t.Errorf("%v: %v", s, err)
			continue
		}
		n, bytes := 0, 0
		for _, o := range offers {
			g := &graph{pass: s.Pass, conv: s.Conv, at: at}
			if _, _, err := g.planOf(o.text); err != nil {
				t.Errorf("%v, engine %d: its text makes no plan: %v", s, o.Index, err)
			}
			g.close()
			if bytes = max(bytes, len(o.text)); o.compiled {
				n++
			}
			if o.plain {
				t.Errorf("%v, engine %d is offered, which uses no tensor cores", s, o.Index)
			}
		}
		most := o.Compiled
		if s.Pass == FilterGradient && tileOf(s.Conv) != ownTile {
			most++
		}
		if n > most {
			t.Errorf("%v: %d plans were compiled, want %d at most", s, n, most)
		}
		t.Logf("%-60v %2d plans, %d compiled, texts up to %3d kB, waited %v", s, len(offers), n, bytes/1000,
			time.Since(waited).Round(time.Millisecond))
		built, compiled = built+len(offers), compiled+n
		if err := p.write(s.String(), Choice{Engine: offers[0].Engine, Workspace: offers[0].workspace},
			offers[0].text); err != nil {
			t.Fatal(err)
		}
	}
	f.close()
	t.Logf("nothing kept: %d plans of %d shapes, %d of them compiled, on %d cores: %v, processor time %v", built,
		len(shapes), compiled, o.Threads, time.Since(began).Round(time.Millisecond), processorTime(t)-before)
	began = time.Now()
	for _, s := range shapes {
		k, text, err := p.read(s.String())
		if err != nil || k == nil {
			t.Fatalf("%v: %+v, %v", s, k, err)
		}
		g := &graph{pass: s.Pass, conv: s.Conv, at: at}
		_, workspace, err := g.planOf(text)
		if err != nil || workspace != k.Workspace {
			t.Errorf("%v: restored with %d bytes of scratch memory, %v, want %d", s, workspace, err, k.Workspace)
		}
		g.close()
	}
	t.Logf("all kept: %v", time.Since(began).Round(time.Millisecond))
}

// processorTime is the processor time of the process, on all cores.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Round(time.Millisecond)
}
