//go:build cuda

package cudnn

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stepShapes are the passes of a training step of VGG16, each once.
func stepShapes(batch, picture int, p Precision) (list []Shape) {
	seen := map[Shape]bool{}
	for _, l := range vgg16 {
		for _, u := range l.uses(l.at(batch, picture, p)) {
			if s := (Shape{u.Pass, u.Conv}); !seen[s] {
				seen[s] = true
				list = append(list, s)
			}
		}
	}
	return list
}

// What a first step at 26 frames of 565 pixels waits for, apart from measuring: with nothing kept the heuristics and the
// building of all that is chosen among, on all cores, and with everything kept the texts.
func TestH200_PlansOfAFirstStep(t *testing.T) {
	if driver == nil {
		t.Skip("plans that are compiled were not checked: there is no fake driver")
	}
	d := describe(t)
	at := target{properties: d.properties}
	o := Options{}.withDefaults()
	f := newForge(at, limits{plans: o.Measured, compiled: o.Compiled, workspace: o.MaxWorkspace}, runtime.NumCPU(),
		func(work func() error) error { return work() })
	shapes, p := stepShapes(26, 565, BFloat16), openPlans(t.TempDir(), Version(), "NVIDIA H200")
	if testing.Short() {
		shapes = shapes[:6]
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
		}
		if n > o.Compiled {
			t.Errorf("%v: %d plans were compiled, want %d at most", s, n, o.Compiled)
		}
		t.Logf("%-60v %2d plans, %d compiled, texts up to %3d kB, waited %v", s, len(offers), n, bytes/1000,
			time.Since(waited).Round(time.Millisecond))
		built, compiled = built+len(offers), compiled+n
		if err := p.write(s.String(), Choice{Engine: offers[0].Engine, Workspace: offers[0].workspace}, offers[0].text); err != nil {
			t.Fatal(err)
		}
	}
	f.close()
	t.Logf("nothing kept: %d plans of %d shapes, %d of them compiled, on %d cores: %v, processor time %v", built,
		len(shapes), compiled, runtime.NumCPU(), time.Since(began).Round(time.Millisecond), processorTime(t)-before)
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

// processorTime is what the process has computed for, on all cores.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Round(time.Millisecond)
}
