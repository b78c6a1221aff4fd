//go:build cuda

package cudnn

// #include "layer.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"time"

	"nmn/cuda"
)

// choose finds the plan of a shape: the one that was kept, or else the fastest.
func (h *Handle) choose(pass Pass, c Conv, o Operands) (*plan, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	key := plansKey(pass, c)
	if h.stream.Capturing() {
		return nil, fmt.Errorf("cudnn: %s: its plan must be chosen before a capture: run the step once before", key)
	}
	if kept, known := h.kept.Choices[key]; known {
		p, err := h.restore(pass, c, kept)
		if err == nil {
			return p, nil
		}
		h.options.Logger.Warn("a kept cuDNN plan does not work, choosing anew", "plan", key, "reason", err)
	}
	p, err := h.fastest(pass, c, o)
	if err != nil {
		return nil, err
	}
	h.options.Logger.Debug("chose a cuDNN plan", "plan", key, "engine", p.choice.Index, "direct", p.choice.Direct,
		"workspace_bytes", p.choice.Workspace, "microseconds", p.choice.Microseconds)
	h.kept.Choices[key] = p.choice
	if h.file != "" {
		if err := h.kept.write(h.file); err != nil {
			h.options.Logger.Warn("cuDNN plans are kept for this run alone", "reason", err)
			h.file = "" // once is enough: a net has dozens of plans
		}
	}
	return p, nil
}

// restore builds a plan that was chosen before.
func (h *Handle) restore(pass Pass, c Conv, kept Choice) (p *plan, err error) {
	if kept.Workspace > h.options.MaxWorkspace {
		return nil, fmt.Errorf("it needs %d bytes of scratch memory, at most %d are wanted", kept.Workspace, h.options.MaxWorkspace)
	}
	err = h.device.Do(func() (err error) {
		if kept.Direct {
			p, err = h.directPlan(pass, c, kept)
			return err
		}
		g, err := newGraph(pass, c, h.target())
		if err == nil {
			var chosen candidate
			if chosen, err = g.restore(kept.Engine); err == nil {
				if err = g.finish(&chosen); err == nil {
					p = graphPlan(g, chosen)
					p.choice.Microseconds = kept.Microseconds
					return nil
				}
			}
		}
		g.close()
		return err
	})
	return p, err
}

func (h *Handle) target() target { return target{handle: C.cudnnHandle_t(rawOf(h.context))} }

// fastest measures the plans of a shape and keeps the best.
func (h *Handle) fastest(pass Pass, c Conv, o Operands) (*plan, error) {
	possible, err := h.possible(pass, c)
	if err != nil {
		return nil, err
	}
	var best *plan
	var failures []error
	least := math.Inf(1)
	for _, p := range possible {
		took, err := h.measure(p, o)
		switch {
		case errors.Is(err, cuda.ErrFault) || errors.Is(err, cuda.ErrDeviceLost):
			return nil, err
		case err != nil:
			failures = append(failures, err)
			continue
		}
		p.choice.Microseconds = float64(took.Nanoseconds()) / 1e3
		if p.choice.Microseconds < least {
			best, least = p, p.choice.Microseconds
		}
	}
	for _, p := range possible {
		if p != best {
			p.close()
		}
	}
	if best == nil {
		return nil, fmt.Errorf("cudnn: %s: none of %d plans runs: %w: %w", plansKey(pass, c), len(possible), errors.Join(failures...), ErrUnsupported)
	}
	return best, nil
}

// possible builds the plans to measure: those of the graph in the order of the heuristics and, in
// float32, those of the interface without graphs. Each has what it needs for itself.
func (h *Handle) possible(pass Pass, c Conv) (list []*plan, err error) {
	err = h.device.Do(func() error {
		list, err = h.graphPlans(pass, c)
		if c.Precision == Float32 {
			direct, directErr := h.directPlans(pass, c)
			list, err = append(list, direct...), errors.Join(err, directErr)
		}
		if len(list) > 0 {
			return nil
		}
		return fmt.Errorf("cudnn: %s: no plan within %d bytes of scratch memory: %w: %w",
			plansKey(pass, c), h.options.MaxWorkspace, err, ErrUnsupported)
	})
	return list, err
}

// graphPlans builds the first plans of a graph that fit. They share the graph, which the last of them
// frees.
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
	err = errors.New("no engine can be built")
	for i := range candidates {
		if len(list) == h.options.Measured {
			break
		}
		if failed := g.finish(&candidates[i]); failed != nil {
			err = failed
			continue
		}
		if candidates[i].workspace > h.options.MaxWorkspace {
			g.abandon(candidates[i].plan)
			continue
		}
		list = append(list, graphPlan(g, candidates[i]))
	}
	if len(list) > 0 {
		err = nil
	}
	return list, err
}

func graphPlan(g *graph, chosen candidate) *plan {
	g.users++
	return &plan{
		name: "cudnn " + plansKey(g.pass, g.conv), graph: g, plan: chosen.plan,
		bias:   g.pass == ForwardBias || g.pass == ForwardBiasReLU,
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
	if err := h.enqueue(p, o); err != nil {
		return 0, err
	}
	least = math.MaxInt64
	for range 3 {
		err := errors.Join(h.stream.Record(events[0]), h.enqueue(p, o), h.stream.Record(events[1]), h.stream.Sync())
		if err != nil {
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
