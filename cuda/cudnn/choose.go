//go:build cuda

package cudnn

// #include "layer.h"
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"nmn/cuda"
)

// choose finds the plan of a shape: the stored one, the plan of the nearest batch, or else the fastest.
func (h *Handle) choose(pass Pass, c Conv, o Operands) (*plan, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	key := plansKey(pass, c)
	if h.stream.Capturing() {
		return nil, fmt.Errorf("cudnn: %s: its plan must be chosen before a capture: run the step once before", key)
	}
	if p := h.restored(pass, c, key); p != nil {
		return p, nil
	}
	p, err := h.borrowed(pass, c, o)
	if p == nil && err == nil {
		p, err = h.fastest(pass, c, o)
	}
	if err != nil {
		return nil, err
	}
	h.options.Logger.Debug("chose a cuDNN plan", "plan", key, "choice", p.choice,
		"workspace_bytes", p.choice.Workspace, "microseconds", p.choice.Microseconds, "from", p.choice.From)
	h.keep(key, p)
	return p, nil
}

// keep writes a plan down for later runs.
func (h *Handle) keep(key string, p *plan) {
	if p.graph != nil && p.text == nil { // cuDNN may have no text of it
		p.text, _ = p.graph.text(p.plan)
	}
	if h.kept.folder != "" {
		if err := h.kept.write(key, p.choice, p.text); err != nil {
			h.forgo(err)
		}
	}
	p.text = nil
}

// forgo keeps no plans from now on. Saying so once is enough: a net has dozens.
func (h *Handle) forgo(reason error) {
	h.options.Logger.Warn("cuDNN plans are kept for this run alone", "reason", reason)
	h.kept.folder = ""
}

// restored returns the stored plan. It returns nil if there is none, or none that works, which is logged.
func (h *Handle) restored(pass Pass, c Conv, key string) *plan {
	k, text, err := h.kept.read(key)
	if k == nil && err == nil {
		return nil
	}
	if unread := (*fs.PathError)(nil); errors.As(err, &unread) {
		h.forgo(err)
		return nil
	}
	var p *plan
	if err == nil {
		p, err = h.restore(pass, c, k.Choice, text)
	}
	if err != nil {
		h.options.Logger.Warn("a stored cuDNN plan does not work, choosing again", "plan", key, "reason", err)
		return nil
	}
	h.options.Logger.Debug("used a stored cuDNN plan", "plan", key, "choice", p.choice,
		"workspace_bytes", p.choice.Workspace)
	return p
}

// restore makes a plan that was chosen before: from its text, or by building its engine again if cuDNN
// refuses the text.
func (h *Handle) restore(pass Pass, c Conv, k Choice, text []byte) (p *plan, err error) {
	if k.Workspace > h.options.MaxWorkspace {
		return nil, fmt.Errorf("it needs %d bytes of scratch memory, at most %d are wanted", k.Workspace,
			h.options.MaxWorkspace)
	}
	if k.Kernel != "" {
		p := h.kernelPlan(pass, c)
		if p == nil || p.choice.Kernel != k.Kernel {
			return nil, fmt.Errorf("there is no kernel %q", k.Kernel)
		}
		p.choice.Microseconds = k.Microseconds
		return p, nil
	}
	err = h.device.Do(func() (err error) {
		switch {
		case k.Direct:
			p, err = h.directPlan(pass, c, k)
			return err
		case len(text) > 0:
			if p, err = h.fromText(pass, c, offer{candidate: candidate{Engine: k.Engine}, text: text}); err == nil {
				break
			}
			fallthrough
		default:
			if p, err = h.rebuilt(pass, c, k.Engine); err != nil {
				return err
			}
		}
		p.choice.Microseconds, p.choice.From = k.Microseconds, k.From
		return nil
	})
	return p, err
}

// fromText makes a plan from a forge's offer, or from a stored text.
func (h *Handle) fromText(pass Pass, c Conv, o offer) (*plan, error) {
	g := &graph{pass: pass, conv: c, at: h.target()}
	made, workspace, err := g.planOf(o.text)
	if err == nil && workspace > h.options.MaxWorkspace {
		err = fmt.Errorf("it needs %d bytes of scratch memory", workspace)
	}
	if err != nil {
		g.close()
		return nil, err
	}
	p := graphPlan(g, candidate{Engine: o.Engine, plan: made, workspace: workspace})
	p.text = o.text
	return p, nil
}

// rebuilt builds the plan of an engine.
func (h *Handle) rebuilt(pass Pass, c Conv, e Engine) (*plan, error) {
	g, err := newGraph(pass, c, h.target())
	if err == nil {
		var chosen candidate
		if chosen, err = g.restore(e); err == nil {
			if err = g.finish(&chosen); err == nil {
				return graphPlan(g, chosen), nil
			}
		}
	}
	g.close()
	return nil, err
}

func (h *Handle) target() target { return target{handle: C.cudnnHandle_t(rawOf(h.context))} }

// Ahead begins to build the candidates for future shapes, on all cores of the host, so that they are ready
// for the first runs. Shapes with stored plans are left out.
func (h *Handle) Ahead(shapes []Shape) {
	for _, s := range shapes {
		if h.plans[s] != nil || h.refused[s] != nil || s.Conv.check() != nil || h.kept.has(s.String()) {
			continue
		}
		f := h.forging()
		if f == nil {
			return
		}
		if near := h.kept.nearest(s.Pass, s.Conv); near != nil {
			f.start(s, &near.Engine)
		} else {
			f.start(s, nil)
		}
	}
}

// borrowed builds the plan of the nearest batch with a stored plan, and measures it alone. It returns nil if
// there is none or it does not run.
func (h *Handle) borrowed(pass Pass, c Conv, o Operands) (*plan, error) {
	near := h.kept.nearest(pass, c)
	if near == nil {
		return nil, nil
	}
	p, err := h.offered(pass, c, &near.Engine)
	if err != nil || len(p) == 0 {
		err = h.device.Do(func() error {
			built, err := h.rebuilt(pass, c, near.Engine)
			p = []*plan{built}
			return err
		})
	}
	if err != nil || p[0].choice.Workspace > h.options.MaxWorkspace {
		return nil, h.closeAll(p, nil)
	}
	best, err := h.measured(p, o)
	if best == nil {
		return nil, fatal(err)
	}
	if len(p) == 1 { // else all were begun ahead, before there was a batch to borrow from
		best.choice.From = near.From
	}
	return best, nil
}

// offered makes plans from the forge's results for a shape. It returns none if there is no forge.
func (h *Handle) offered(pass Pass, c Conv, only *Engine) (list []*plan, err error) {
	f := h.forging()
	if f == nil {
		return nil, nil
	}
	offers, err := f.take(Shape{pass, c}, only)
	if err != nil {
		return nil, err
	}
	err = h.device.Do(func() error {
		var failures []error
		for _, o := range offers {
			p, err := h.fromText(pass, c, o)
			if err != nil {
				failures = append(failures, err)
				continue
			}
			list = append(list, p)
		}
		return errors.Join(failures...)
	})
	if len(list) > 0 {
		err = nil
	}
	return list, err
}

// fastest measures the plans of a shape and keeps the best.
func (h *Handle) fastest(pass Pass, c Conv, o Operands) (*plan, error) {
	possible, err := h.possible(pass, c)
	if err != nil {
		return nil, err
	}
	best, err := h.measured(possible, o)
	if best == nil && fatal(err) == nil {
		err = fmt.Errorf("cudnn: %s: none of %d plans runs: %w: %w", plansKey(pass, c), len(possible), err, ErrUnsupported)
	}
	if best == nil {
		return nil, err
	}
	return best, nil
}

// fatal returns an error after which the device does nothing more, and nil for any other.
func fatal(err error) error {
	if errors.Is(err, cuda.ErrFault) || errors.Is(err, cuda.ErrDeviceLost) {
		return err
	}
	return nil
}

// measured measures plans, keeps the fastest and closes the others. If none runs it returns nil, with the
// reasons.
func (h *Handle) measured(list []*plan, o Operands) (best *plan, err error) {
	var failures []error
	least := math.Inf(1)
	for _, p := range list {
		took, err := h.measure(p, o)
		if err != nil {
			failures = append(failures, err)
			if fatal(err) != nil {
				break
			}
			continue
		}
		p.choice.Microseconds = float64(took.Nanoseconds()) / 1e3
		if p.choice.Microseconds < least {
			best, least = p, p.choice.Microseconds
		}
	}
	if err = errors.Join(failures...); fatal(err) != nil {
		best = nil
	}
	if closed := h.closeAll(list, best); best == nil || closed != nil {
		return nil, errors.Join(err, closed)
	}
	return best, nil
}

// closeAll closes plans but one, with the context of their device current: they hold code there.
func (h *Handle) closeAll(list []*plan, but *plan) error {
	return h.device.Finish(func() error {
		for _, p := range list {
			if p != nil && p != but {
				p.close()
			}
		}
		return nil
	})
}

// possible builds the plans to measure: the graph's in the order of the heuristics and, in float32, the
// plans of the interface without graphs, then the caller's kernel. Each owns its resources.
func (h *Handle) possible(pass Pass, c Conv) (list []*plan, err error) {
	list, err = h.offered(pass, c, nil)
	offered := len(list) > 0
	err = h.device.Do(func() error {
		if !offered { // a cuDNN that builds nothing from a description, or takes no texts
			list, err = h.graphPlans(pass, c)
		}
		if c.Precision == Float32 {
			direct, directErr := h.directPlans(pass, c)
			list, err = append(list, direct...), errors.Join(err, directErr)
		}
		if p := h.kernelPlan(pass, c); p != nil {
			list = append(list, p)
		}
		if len(list) > 0 {
			return nil
		}
		return fmt.Errorf("cudnn: %s: no plan within %d bytes of scratch memory: %w: %w",
			plansKey(pass, c), h.options.MaxWorkspace, err, ErrUnsupported)
	})
	return list, err
}

// graphPlans builds the first plans of a graph that fit. They share the graph, which the last of them frees.
func (h *Handle) graphPlans(pass Pass, c Conv) (list []*plan, err error) {
	g, err := newGraph(pass, c, h.target())
	defer func() {
		if len(list) == 0 {
			g.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	candidates, err := g.candidates()
	if err != nil {
		return nil, err
	}
	failures := []error{errors.New("no engine can be built")}
	fast := false // one with tensor cores is there
	for _, o := range h.limits().choose(g, candidates) {
		if len(list) == h.options.Measured || o.plain && fast {
			break
		}
		if failed := g.finish(&o.candidate); failed != nil {
			failures = append(failures, failed)
			continue
		}
		if o.workspace > h.options.MaxWorkspace {
			g.abandon(o.plan)
			continue
		}
		list, fast = append(list, graphPlan(g, o.candidate)), fast || !o.plain
	}
	if len(list) == 0 {
		return nil, errors.Join(failures...)
	}
	return list, nil
}

func graphPlan(g *graph, chosen candidate) *plan {
	g.users++
	return &plan{
		name: "cudnn " + plansKey(g.pass, g.conv), graph: g, plan: chosen.plan,
		beside: g.pass.besides(),
		choice: Choice{Engine: chosen.Engine, Workspace: chosen.workspace},
	}
}

// measure runs a plan once to warm up and returns the least time of three runs.
func (h *Handle) measure(p *plan, o Operands) (least time.Duration, err error) {
	var events [2]*cuda.Event
	for i := range events {
		if events[i], err = h.device.NewEvent(true); err != nil {
			return 0, err
		}
		defer events[i].Close()
	}
	if err := h.warmUp(p, o); err != nil {
		return 0, err
	}
	least = math.MaxInt64
	for range 3 {
		err := h.stream.Unmarked(func() error {
			return errors.Join(h.stream.Record(events[0]), h.enqueue(p, o), h.stream.Record(events[1]))
		})
		if err = errors.Join(err, h.stream.Sync()); err != nil {
			return 0, err
		}
		took, err := events[0].Elapsed(events[1])
		if err != nil {
			return 0, err
		}
		least = min(least, took)
	}
	return least, nil
}

// warmUp runs a plan once. The first of a handle runs for as long as a card takes to raise its clocks.
func (h *Handle) warmUp(p *plan, o Operands) error {
	if err := h.enqueue(p, o); err != nil {
		return err
	}
	for began := time.Now(); !h.warm; h.warm = time.Since(began) >= h.options.WarmUp {
		const some = 8
		for range some {
			if err := h.enqueue(p, o); err != nil {
				return err
			}
		}
		if err := h.stream.Sync(); err != nil {
			return err
		}
	}
	return nil
}
