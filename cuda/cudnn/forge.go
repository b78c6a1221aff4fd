//go:build cuda

package cudnn

// #include "layer.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
)

// Shape is a pass of a convolution of one shape, which has its own plan.
type Shape struct {
	Pass Pass
	Conv Conv
}

// String is how plans are named in files and logs.
func (s Shape) String() string { return plansKey(s.Pass, s.Conv) }

// limits select the plans that are offered for a shape.
type limits struct {
	plans     int // at most
	compiled  int // maximum of them whose code cuDNN compiles first
	beside    int // that maximum for passes that plans without compiled code can replace
	workspace int // bytes of scratch memory, at most
}

// offer is a plan that could be taken, as text that a handle makes a plan of.
type offer struct {
	candidate
	compiled bool
	plain    bool // without tensor cores
	text     []byte
}

// forge builds plans on several threads, because compiling for a network takes cuDNN half a minute on one. It
// returns them as texts.
type forge struct {
	limits limits
	turns  chan target // one for each thread that may build, and which no other thread uses meanwhile
	do     func(func() error) error

	mutex  sync.Mutex
	jobs   map[Shape]*job
	closed bool
	group  sync.WaitGroup
}

// job is the building for a shape. Its results are written before done is closed.
type job struct {
	done   chan struct{}
	offers []offer
	err    error
}

var errClosed = errors.New("cudnn: closed while plans were built")

// newForge makes a forge with a thread for each target. do runs functions that call cuDNN.
func newForge(l limits, do func(func() error) error, targets ...target) *forge {
	f := &forge{limits: l, turns: make(chan target, len(targets)), do: do, jobs: map[Shape]*job{}}
	for _, at := range targets {
		f.turns <- at
	}
	return f
}

// start begins to build for a shape, only one plan if an engine is named. A job that was started before
// continues.
func (f *forge) start(s Shape, only *Engine) *job {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if j := f.jobs[s]; j != nil {
		return j
	}
	j := &job{done: make(chan struct{})}
	f.jobs[s] = j
	if f.closed {
		j.err = errClosed
		close(j.done)
		return j
	}
	f.group.Go(func() {
		defer close(j.done)
		if only != nil {
			j.offers, j.err = f.all(s, []offer{{candidate: candidate{Engine: *only}}})
			return
		}
		var list []offer
		if list, j.err = f.list(s); j.err == nil {
			j.offers, j.err = f.all(s, list)
		}
	})
	return j
}

// take waits for the offers for a shape, and drops the job.
func (f *forge) take(s Shape, only *Engine) ([]offer, error) {
	j := f.start(s, only)
	<-j.done
	f.mutex.Lock()
	delete(f.jobs, s)
	f.mutex.Unlock()
	return j.offers, j.err
}

// turn waits for a thread and works on it.
func (f *forge) turn(work func(at target) error) error {
	at := <-f.turns
	defer func() { f.turns <- at }()
	f.mutex.Lock()
	closed := f.closed
	f.mutex.Unlock()
	if closed {
		return errClosed
	}
	return f.do(func() error { return work(at) })
}

// list asks the heuristics for engines, and selects those to offer. Of compiled engines it takes only the
// first few.
func (f *forge) list(s Shape) (list []offer, err error) {
	err = f.turn(func(at target) error {
		g, err := newGraph(s.Pass, s.Conv, at)
		defer g.close()
		if err != nil {
			return err
		}
		candidates, err := g.candidates()
		if err != nil {
			return err
		}
		list = f.limits.choose(g, candidates)
		return nil
	})
	return list, err
}

// choose takes the candidates to build, in their order. Candidates without tensor cores come last, and are
// offered only if no other can be built. One of them takes 4 s for the filter gradient of fc6, for which
// another takes a millisecond. More candidates without code to compile are taken than are offered at the end,
// because some cannot be built or need too much scratch memory.
func (l limits) choose(g *graph, candidates []candidate) (list []offer) {
	var plain []offer
	compiled, most := 0, l.compiled
	if g.pass == MaskedDataGradient || g.pass.biased() && g.conv.Precision == BFloat16 && !g.conv.NarrowBias {
		most = min(most, l.beside)
	}
	if g.pass == FilterGradient && tileOf(g.conv) != ownTile {
		most++ // for the slices of another tile
	}
	for i := range candidates {
		o := offer{candidate: candidates[i], compiled: g.compiles(&candidates[i]), plain: !candidates[i].tensorCores()}
		if o.compiled {
			// Candidates after enough others would be compiled for nothing.
			if compiled++; compiled > most || len(list)+len(plain) >= l.plans {
				continue
			}
		}
		if o.plain {
			plain = append(plain, o)
		} else {
			list = append(list, o)
		}
	}
	return append(list, plain...)
}

// all builds the listed candidates, the compiled ones in parallel.
func (f *forge) all(s Shape, list []offer) (built []offer, err error) {
	errs := make([]error, len(list)+1)
	var group sync.WaitGroup
	var others []*offer
	for i := range list {
		if o := &list[i]; o.compiled {
			group.Go(func() { errs[i] = f.turn(func(at target) error { return f.build(at, s, []*offer{o}) }) })
		} else {
			others = append(others, o)
		}
	}
	if len(others) > 0 {
		errs[len(list)] = f.turn(func(at target) error { return f.build(at, s, others) })
	}
	group.Wait()
	for _, o := range list {
		if o.text != nil && len(built) < f.limits.plans && (!o.plain || len(built) == 0 || built[0].plain) {
			built = append(built, o)
		}
	}
	if len(built) == 0 {
		return nil, fmt.Errorf("cudnn: %v: no engine can be built within %d bytes of scratch memory: %w: %w", s,
			f.limits.workspace, errors.Join(errs...), ErrUnsupported)
	}
	return built, nil
}

// build builds engines and keeps the texts of those that fit, up to the number offered.
func (f *forge) build(at target, s Shape, list []*offer) error {
	g, err := newGraph(s.Pass, s.Conv, at)
	defer g.close()
	if err != nil {
		return err
	}
	var failures []error
	built := 0
	for _, o := range list {
		if built == f.limits.plans {
			break
		}
		if err := f.one(g, o); err != nil {
			failures = append(failures, err)
			continue
		}
		built++
	}
	return errors.Join(failures...)
}

// one builds an engine and keeps its text.
func (f *forge) one(g *graph, o *offer) error {
	c, err := g.restore(o.Engine)
	if err != nil {
		g.err = nil // the graph serves the others
		return err
	}
	if err := g.finish(&c); err != nil {
		return err
	}
	defer g.abandon(c.plan)
	if c.workspace > f.limits.workspace {
		return fmt.Errorf("engine %d needs %d bytes of scratch memory", c.Index, c.workspace)
	}
	text, err := g.text(c.plan)
	o.workspace, o.text = c.workspace, text
	return err
}

// close ends the forge and waits until nothing is built any more.
func (f *forge) close() {
	f.mutex.Lock()
	f.closed = true
	f.mutex.Unlock()
	f.group.Wait()
}

// free destroys the handles of a closed forge.
func (f *forge) free() error {
	var errs []error
	for range cap(f.turns) {
		if at := <-f.turns; at.handle != nil {
			errs = append(errs, check("destroy a handle", C.cudnnDestroy(at.handle)))
		}
	}
	return errors.Join(errs...)
}
