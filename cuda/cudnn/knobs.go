//go:build cuda

package cudnn

// #include "layer.h"
import "C"

import (
	"regexp"
	"slices"
	"strconv"
)

// knobRange is the range of a setting of an engine, from least to most in equal steps.
type knobRange struct{ kind, least, most, step int64 }

// holds reports whether a value is in the range.
func (r knobRange) holds(value int64) bool {
	return value >= r.least && value <= r.most && (r.step < 1 || (value-r.least)%r.step == 0)
}

// knobRanges reads which settings the engine of a configuration has.
func (g *graph) knobRanges(config descriptor) ([]knobRange, error) {
	engine, err := g.engineOf(config)
	if err != nil {
		return nil, err
	}
	infos := g.list("the range of a setting", C.CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR, 32)
	if g.err != nil {
		return nil, g.err
	}
	n, err := get("the settings of an engine", engine, C.CUDNN_ATTR_ENGINE_KNOB_INFO, C.CUDNN_TYPE_BACKEND_DESCRIPTOR,
		infos)
	if err != nil {
		return nil, err
	}
	ranges := make([]knobRange, n)
	for i := range ranges {
		if err := ranges[i].read(infos[i]); err != nil {
			return nil, err
		}
	}
	return ranges, nil
}

func (r *knobRange) read(info descriptor) error {
	kind, err := one[C.cudnnBackendKnobType_t]("a setting", info, C.CUDNN_ATTR_KNOB_INFO_TYPE, C.CUDNN_TYPE_KNOB_TYPE)
	if err != nil {
		return err
	}
	r.kind = int64(kind)
	for _, field := range [...]struct {
		name C.cudnnBackendAttributeName_t
		to   *int64
	}{
		{C.CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, &r.least},
		{C.CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, &r.most},
		{C.CUDNN_ATTR_KNOB_INFO_STRIDE, &r.step},
	} {
		if *field.to, err = one[int64]("the range of a setting", info, field.name, C.CUDNN_TYPE_INT64); err != nil {
			return err
		}
	}
	return nil
}

// sliced makes further candidates of an engine for filter gradients that the heuristics offer only with one
// slice: with more slices, and with the tile that fits the layer. It leaves out what the settings of the engine
// do not allow.
//
// The notes of the engine apply to them too. In the code of cuDNN 9.13 a slice waits for the one before it,
// so that partial sums, which are float32, are added in one order.
func (g *graph) sliced(of candidate) (list []candidate) {
	if g.pass != FilterGradient || !g.conv.Wide || len(of.Knobs) > 0 {
		return nil
	}
	ranges, err := g.knobRanges(of.config)
	if err != nil { // an engine that does not report its settings keeps them
		g.err = nil // the graph is sound
		return nil
	}
	at := func(kind C.cudnnBackendKnobType_t) int {
		return slices.IndexFunc(ranges, func(r knobRange) bool { return r.kind == int64(kind) })
	}
	count, config := at(C.CUDNN_KNOB_TYPE_SPLIT_K_SLC), at(C.CUDNN_KNOB_TYPE_KERNEL_CFG)
	if count < 0 {
		return nil
	}
	multiprocessors, err := g.at.multiprocessors()
	if err != nil {
		return nil
	}
	for _, cut := range cuts(g.conv, multiprocessors, int(ranges[count].most)) {
		if !ranges[count].holds(int64(cut.slices)) || cut.tile == ownTile && cut.slices == 1 {
			continue
		}
		if cut.tile != ownTile && (config < 0 || !ranges[config].holds(int64(cut.config))) {
			continue
		}
		made, err := g.restore(Engine{Index: of.Index, Knobs: splitKnobs(cut)})
		if err != nil {
			g.err = nil // it does without this one
			continue
		}
		made.notes = of.notes
		list = append(list, made)
	}
	return list
}

// splitKnobs are the settings of a cut.
func splitKnobs(c cut) []Knob {
	knobs := []Knob{{int64(C.CUDNN_KNOB_TYPE_SPLIT_K_SLC), int64(c.slices)}}
	if c.tile != ownTile {
		knobs = append(knobs, Knob{int64(C.CUDNN_KNOB_TYPE_KERNEL_CFG), int64(c.config)})
	}
	return knobs
}

var multiProcessorCount = regexp.MustCompile(`"multiProcessorCount"\s*:\s*(\d+)`)

// multiprocessors is the number of the device's multiprocessors, by cuDNN's description; 1 if that has none.
func (t target) multiprocessors() (int, error) {
	var b builder
	defer b.close()
	properties := t.properties
	if properties == nil {
		var err error
		if properties, err = describeHandle(&b, t.handle); err != nil {
			return 0, err
		}
	}
	text, err := writeDescription(properties)
	if err != nil {
		return 0, err
	}
	found := multiProcessorCount.FindSubmatch(text)
	if found == nil {
		return 1, nil
	}
	n, err := strconv.Atoi(string(found[1]))
	return max(n, 1), err
}
