package bench

import (
	"cmp"
	"slices"
	"strings"

	"nmn/kernels/reduce"
	"nmn/kernels/tensor"
	"nmn/model"
)

// layerBytes are the gradients of a layer.
type layerBytes struct {
	layer   string
	numbers int
}

func (l layerBytes) ofHead() bool { return strings.HasPrefix(l.layer, "fc") || l.layer == noiseLayer }

// gradientsOf lists the layers of a net with the numbers of their gradients.
func gradientsOf(net *model.Net) (layers []layerBytes) {
	for _, p := range net.Params() {
		name := layerName(p)
		i := slices.IndexFunc(layers, func(l layerBytes) bool { return l.layer == name })
		if i < 0 {
			i, layers = len(layers), append(layers, layerBytes{layer: name})
		}
		layers[i].numbers += p.FileLen()
	}
	return layers
}

// ScalingOptions say what a training on many cards is modelled of.
type ScalingOptions struct {
	Card      Card
	Precision tensor.Precision // empty and Auto: bf16
	Fabric    Fabric
	// HalfWire sends gradients in bfloat16.
	HalfWire bool
	// StepMS is how long one card takes for its step; 0 for the floor.
	StepMS float64
	Cards  []int // numbers of cards
}

// Bucket is a part of the gradients that is summed at once.
type Bucket struct {
	Layers  []string `json:"layers"`
	Bytes   int      `json:"bytes"`    // as they travel
	ReadyMS float64  `json:"ready_ms"` // since the step began
}

// Scaled is a step on so many cards, each with a batch of its own.
type Scaled struct {
	Cards        int     `json:"cards"`
	AllReduceMS  float64 `json:"all_reduce_ms"`     // of all buckets, one after the other
	StepMS       float64 `json:"step_ms"`           // with the sums behind the backward pass
	OverlappedMS float64 `json:"overlapped_ms"`     // with each bucket's sum as soon as it is ready
	Efficiency   float64 `json:"efficiency"`        // one card's step over the overlapped one
	Unhidden     float64 `json:"efficiency_behind"` // likewise with the sums behind
	PicturesPerS float64 `json:"pictures_per_s"`    // of all cards, overlapped
}

// ScalingFigures are a model, not a measurement.
type ScalingFigures struct {
	NetFigures
	Card          Card     `json:"card"`
	Fabric        Fabric   `json:"fabric"`
	Wire          string   `json:"wire"`
	GradientBytes int      `json:"gradient_bytes"` // as they travel
	HeadShare     float64  `json:"head_share"`     // of them, that of the head's buckets
	FloorMS       float64  `json:"floor_ms"`
	StepMS        float64  `json:"step_ms"`
	BackwardMS    float64  `json:"backward_end_ms"` // since the step began
	Buckets       []Bucket `json:"buckets"`
	Scaled        []Scaled `json:"scaled"`
}

// Names of what is no layer of the backbone: the noise model, and what comes behind the backward pass.
const (
	noiseLayer = "nmn"
	updated    = "all"
)

// bucketBytes is how many bytes of gradients in float32 a bucket has at least, as train cuts them.
const bucketBytes = 25 << 20

// Scaling models the step of a net on many cards: the operations of the floor one after the other, stretched to the
// step of one card, and the sums of gradients beside them or behind them, at the rates of a fabric. What the two take
// from each other, and waiting for the slowest card, are left out.
func Scaling(n Net, o ScalingOptions) (*ScalingFigures, error) {
	floor, err := Floor(n, FloorOptions{Card: o.Card, Precision: o.Precision})
	if err != nil {
		return nil, err
	}
	f := &ScalingFigures{NetFigures: floor.NetFigures, Card: o.Card, Fabric: o.Fabric, Wire: "fp32",
		FloorMS: floor.Total.FloorMS, StepMS: cmp.Or(o.StepMS, floor.Total.FloorMS)}
	width := tensor.Float32.Size()
	if o.HalfWire {
		f.Wire, width = "bf16", tensor.BFloat16.Size()
	}
	f.timeline(floor, width)
	for _, cards := range o.Cards {
		f.Scaled = append(f.Scaled, f.on(cards, n.pictures()))
	}
	return f, nil
}

// timeline finds when the gradients of each layer are there, and cuts them into buckets.
func (f *ScalingFigures) timeline(floor *FloorFigures, width int) {
	stretch := f.StepMS / floor.Total.FloorMS
	ready, at := map[string]float64{}, 0.0
	for _, o := range floor.Ops {
		if o.Layer == updated {
			break
		}
		at += o.FloorMS * stretch
		if o.Pass == "filter gradient" || o.Pass == "bias gradient" {
			ready[o.Layer] = at
		}
	}
	f.BackwardMS = at
	layers := slices.Clone(floor.layers)
	slices.SortStableFunc(layers, func(a, b layerBytes) int { return cmp.Compare(ready[a.layer], ready[b.layer]) })
	head := slices.IndexFunc(layers, func(l layerBytes) bool { return !l.ofHead() })
	f.cut(layers[:head], ready[layers[head-1].layer], width)
	for _, b := range f.Buckets {
		f.HeadShare += float64(b.Bytes)
	}
	f.cut(layers[head:], f.BackwardMS, width)
	f.HeadShare /= float64(f.GradientBytes)
}

// cut adds the buckets of layers. A card computes the head and the backbone each by one call: the buckets of a part are
// ready together, when it is through.
func (f *ScalingFigures) cut(layers []layerBytes, readyMS float64, width int) {
	sizes := make([]int, len(layers))
	for i, l := range layers {
		sizes[i] = l.numbers * tensor.Float32.Size()
	}
	first := 0
	for _, end := range reduce.Fold(sizes, bucketBytes) {
		b := Bucket{ReadyMS: readyMS}
		for _, l := range layers[first:end] {
			b.Layers, b.Bytes = append(b.Layers, l.layer), b.Bytes+width*l.numbers
		}
		f.Buckets, f.GradientBytes, first = append(f.Buckets, b), f.GradientBytes+b.Bytes, end
	}
}

// on is the step on so many cards.
func (f *ScalingFigures) on(cards, pictures int) Scaled {
	s := Scaled{Cards: cards}
	end := 0.0
	for _, b := range f.Buckets {
		took := f.summedMS(b, cards)
		s.AllReduceMS += took
		end = max(end, b.ReadyMS) + took
	}
	if cards == 1 {
		end = 0
	}
	s.StepMS = f.StepMS + s.AllReduceMS
	s.OverlappedMS = f.StepMS + max(0, end-f.BackwardMS)
	s.Efficiency, s.Unhidden = f.StepMS/s.OverlappedMS, f.StepMS/s.StepMS
	s.PicturesPerS = float64(cards*pictures) / s.OverlappedMS * 1e3
	return s
}

// summedMS is how long a bucket's sum takes. Half-wide numbers are rounded before and widened behind, which reads and
// writes six bytes for each, twice.
func (f *ScalingFigures) summedMS(b Bucket, cards int) float64 {
	if cards == 1 {
		return 0
	}
	ms := f.Fabric.allReduceMS(b.Bytes, cards)
	if f.Wire == "bf16" {
		ms += float64(6*b.Bytes) / (f.Card.Bandwidth * 1e9)
	}
	return ms
}
