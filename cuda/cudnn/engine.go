//go:build cuda

package cudnn

// #include "layer.h"
import "C"

import (
	"fmt"
	"slices"
)

// candidate is an engine that could compute a graph.
type candidate struct {
	Engine
	config    descriptor
	notes     []C.cudnnBackendNumericalNote_t
	plan      descriptor // nil until finalized
	workspace int        // bytes
}

// maxCandidates is how many engines a heuristic is asked for.
const maxCandidates = 64

// candidates asks the heuristics for engines that are deterministic and multiply in the precision. Those
// expected to be fast come first. They live until the graph is closed.
func (g *graph) candidates() ([]candidate, error) {
	var fit []candidate
	var seen int
	for _, mode := range []C.cudnnBackendHeurMode_t{C.CUDNN_HEUR_MODE_A, C.CUDNN_HEUR_MODE_FALLBACK} {
		configs, err := g.heuristic(mode)
		if err != nil {
			return nil, err
		}
		for _, config := range configs {
			c, err := g.inspect(config)
			if err != nil {
				return nil, err
			}
			seen++
			if !g.conv.Precision.allows(c.notes) || slices.ContainsFunc(fit, c.same) {
				continue
			}
			fit = append(append(fit, c), g.sliced(c)...)
		}
	}
	if len(fit) == 0 {
		return nil, fmt.Errorf("cudnn: %v of %v: of %d engines none is deterministic and precise enough: %w", g.pass, g.conv,
			seen, ErrUnsupported)
	}
	return fit, nil
}

// engines lists the engines that the heuristics offer for a shape, each once, the fastest first. A shape that
// the device does not support has none.
func engines(at target, s Shape) (list []int64) {
	g, err := newGraph(s.Pass, s.Conv, at)
	defer g.close()
	if err != nil {
		return nil
	}
	candidates, err := g.candidates()
	if err != nil {
		return nil
	}
	for _, c := range candidates {
		if !slices.Contains(list, c.Index) {
			list = append(list, c.Index)
		}
	}
	return list
}

func (c candidate) same(other candidate) bool {
	return c.Index == other.Index && slices.Equal(c.Knobs, other.Knobs)
}

// tensorCores reports whether the engine multiplies on tensor cores.
func (c candidate) tensorCores() bool {
	return slices.Contains(c.notes, C.CUDNN_NUMERICAL_NOTE_TENSOR_CORE)
}

// allows reports whether an engine with these notes multiplies as precisely as wanted, and the same in
// every run.
func (p Precision) allows(notes []C.cudnnBackendNumericalNote_t) bool {
	has := func(n C.cudnnBackendNumericalNote_t) bool { return slices.Contains(notes, n) }
	switch {
	case has(C.CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC), has(C.CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION),
		has(C.CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS):
		return false
	case p == Float32:
		return !has(C.CUDNN_NUMERICAL_NOTE_TENSOR_CORE)
	}
	return true
}

// heuristic returns the engine configurations of one heuristic, or none if it has none.
func (g *graph) heuristic(mode C.cudnnBackendHeurMode_t) ([]descriptor, error) {
	h := g.create("a heuristic", C.CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
	g.descriptors(h, C.CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, g.ops)
	set(&g.builder, h, C.CUDNN_ATTR_ENGINEHEUR_MODE, C.CUDNN_TYPE_HEUR_MODE, mode)
	if g.at.properties != nil {
		g.descriptors(h, C.CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, g.at.properties)
	}
	if g.err != nil {
		return nil, g.err
	}
	if status := C.cudnnBackendFinalize(h); status == C.CUDNN_STATUS_NOT_SUPPORTED {
		return nil, nil
	} else if err := check("ask a heuristic for engines", status); err != nil {
		return nil, err
	}
	configs := g.list("an engine configuration", C.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, maxCandidates)
	if g.err != nil {
		return nil, g.err
	}
	n, err := get("the engines of a heuristic", h, C.CUDNN_ATTR_ENGINEHEUR_RESULTS, C.CUDNN_TYPE_BACKEND_DESCRIPTOR,
		configs)
	return configs[:n], err
}

// inspect reads the parts of an engine configuration.
func (g *graph) inspect(config descriptor) (c candidate, err error) {
	c.config = config
	engine, err := g.engineOf(config)
	if err != nil {
		return c, err
	}
	c.Index, err = one[int64]("the index of an engine", engine, C.CUDNN_ATTR_ENGINE_GLOBAL_INDEX, C.CUDNN_TYPE_INT64)
	if err != nil {
		return c, err
	}
	notes := make([]C.cudnnBackendNumericalNote_t, C.CUDNN_NUMERICAL_NOTE_TYPE_COUNT)
	n, err := get("the notes of an engine", engine, C.CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, C.CUDNN_TYPE_NUMERICAL_NOTE,
		notes)
	if err != nil {
		return c, err
	}
	c.notes = notes[:n]
	c.Knobs, err = g.knobs(config)
	return c, err
}

// engineOf reads the engine of a configuration.
func (g *graph) engineOf(config descriptor) (descriptor, error) {
	engine := g.list("an engine", C.CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1)
	if g.err != nil {
		return nil, g.err
	}
	_, err := get("an engine", config, C.CUDNN_ATTR_ENGINECFG_ENGINE, C.CUDNN_TYPE_BACKEND_DESCRIPTOR, engine)
	return engine[0], err
}

// knobs reads the settings of an engine configuration.
func (g *graph) knobs(config descriptor) (knobs []Knob, err error) {
	choices := g.list("a setting", C.CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, 32)
	if g.err != nil {
		return nil, g.err
	}
	n, err := get("the settings of an engine", config, C.CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
		C.CUDNN_TYPE_BACKEND_DESCRIPTOR, choices)
	for _, choice := range choices[:n] {
		var kind C.cudnnBackendKnobType_t
		var value int64
		if err == nil {
			kind, err = one[C.cudnnBackendKnobType_t]("a setting", choice, C.CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
				C.CUDNN_TYPE_KNOB_TYPE)
		}
		if err == nil {
			value, err = one[int64]("a setting", choice, C.CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, C.CUDNN_TYPE_INT64)
		}
		knobs = append(knobs, Knob{int64(kind), value})
	}
	return knobs, err
}

// restore makes a candidate of an engine and settings that were chosen before.
func (g *graph) restore(e Engine) (candidate, error) {
	engine := g.create("an engine", C.CUDNN_BACKEND_ENGINE_DESCRIPTOR)
	g.descriptors(engine, C.CUDNN_ATTR_ENGINE_OPERATION_GRAPH, g.ops)
	g.integers(engine, C.CUDNN_ATTR_ENGINE_GLOBAL_INDEX, e.Index)
	if g.at.properties != nil {
		g.descriptors(engine, C.CUDNN_ATTR_ENGINE_DEVICEPROP, g.at.properties)
	}
	g.finalize("an engine chosen before", engine)
	config := g.create("an engine configuration", C.CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
	g.descriptors(config, C.CUDNN_ATTR_ENGINECFG_ENGINE, engine)
	var choices []descriptor
	for _, k := range e.Knobs {
		choice := g.create("a setting", C.CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR)
		set(&g.builder, choice, C.CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, C.CUDNN_TYPE_KNOB_TYPE, C.cudnnBackendKnobType_t(k.Type))
		g.integers(choice, C.CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, k.Value)
		g.finalize("a setting", choice)
		choices = append(choices, choice)
	}
	if len(choices) > 0 {
		g.descriptors(config, C.CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, choices...)
	}
	g.finalize("an engine configuration chosen before", config)
	return candidate{Engine: e, config: config}, g.err
}

// finish makes a candidate executable and reads its workspace. Many engines of a heuristic cannot be built
// for a shape after all. Their error gives the reason.
func (g *graph) finish(c *candidate) error {
	// A builder of its own: the failure of one engine must not end the others.
	var b builder
	plan := b.create("a plan", C.CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
	b.descriptors(plan, C.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, c.config)
	g.at.bind(&b, plan)
	b.finalize("a plan", plan)
	if c.workspace = b.workspaceOf(plan); b.err != nil {
		b.close()
		return b.err
	}
	g.made = append(g.made, b.made...)
	c.plan = plan
	return nil
}
