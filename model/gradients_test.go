package model

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Whichever parameters learn, and in any number of chunks, a layer's gradients are complete when the step
// reports them, in the order of Gradients. Every gradient is reported.
func TestStep_SaysWhenGradientsAreComplete(t *testing.T) {
	for name, frozen := range map[string]func(*Param) bool{
		"all learn":           func(*Param) bool { return false },
		"the lowest rest":     func(p *Param) bool { return strings.HasPrefix(p.Name, "backbone.conv1") },
		"the backbone rests":  func(p *Param) bool { return strings.HasPrefix(p.Name, "backbone.") },
		"a layer rests":       func(p *Param) bool { return strings.HasPrefix(p.Name, "backbone.conv2_1") },
		"weights, not biases": func(p *Param) bool { return p.Bias },
		"biases alone":        func(p *Param) bool { return !p.Bias },
		"without noise":       func(p *Param) bool { return strings.HasPrefix(p.Name, "nmn.") },
	} {
		for _, noise := range []NoiseMode{NoNoise, FeatureIndependent, FeatureDependent} {
			for _, chunk := range []int{0, 4} {
				t.Run(fmt.Sprintf("%s, noise %q, chunks of %d", name, noise, chunk), func(t *testing.T) {
					n := newNet(t, openCPU(t, 2), small(noise))
					if err := n.Freeze(frozen); err != nil {
						t.Fatal(err)
					}
					checkDone(t, n, inChunks(t, n, chunk))
				})
			}
		}
	}
}

func checkDone(t *testing.T, n *Net, p *Plan) {
	t.Helper()
	layers, seen, order := n.Gradients(), map[string][]float32{}, []int{}
	step(t, n, p, StepOptions{Scale: .5, DropoutSeed: 3, Done: func(layer int) error {
		order = append(order, layer)
		for _, param := range layers[layer] {
			seen[param.Name] = values(t, n, param.G)
		}
		return nil
	}})
	if !slices.IsSorted(order) || len(slices.Compact(order)) != len(order) {
		t.Errorf("layers are complete in the order %v", order)
	}
	if want := gradients(t, n); !reflect.DeepEqual(seen, want) {
		t.Errorf("gradients when they were reported complete: %d of %d, or with other numbers", len(seen), len(want))
	}
}

// The two parts of a step are the step, in every bit.
func TestStep_PartsAreTheWhole(t *testing.T) {
	for _, chunk := range []int{0, 4} {
		for _, accumulate := range []bool{false, true} {
			n := newNet(t, openCPU(t, 2), small(FeatureDependent))
			p := inChunks(t, n, chunk)
			o := StepOptions{Scale: .5, DropoutSeed: 3}
			run := func(parts ...StepPart) map[string][]float32 {
				for _, part := range parts {
					o.Part = part
					step(t, n, p, o)
				}
				return gradients(t, n)
			}
			run(WholeStep)
			if accumulate {
				o.Accumulate = true
			}
			want := run(WholeStep)
			o.Accumulate = false
			run(WholeStep)
			o.Accumulate = accumulate
			if got := run(UpperPart, LowerPart); !reflect.DeepEqual(got, want) {
				t.Errorf("chunks of %d, accumulated %t: the parts make other gradients", chunk, accumulate)
			}
		}
	}
}

// After the upper part the gradients of the noise model and of the head are there.
func TestStep_UpperPartCompletesTheHead(t *testing.T) {
	n := newNet(t, openCPU(t, 2), small(FeatureDependent))
	p := inChunks(t, n, 4)
	step(t, n, p, StepOptions{Scale: .5, Part: UpperPart})
	upper := gradients(t, n)
	step(t, n, p, StepOptions{Scale: .5, Part: LowerPart})
	whole := gradients(t, n)
	for layer, params := range n.Gradients() {
		for _, param := range params {
			if same := reflect.DeepEqual(upper[param.Name], whole[param.Name]); layer < n.UpperGradients() && !same {
				t.Errorf("%s changes in the lower part", param.Name)
			}
		}
	}
	if reflect.DeepEqual(upper, whole) {
		t.Error("nothing is left to the lower part")
	}
}

func TestClearGradients(t *testing.T) {
	n := newNet(t, openCPU(t, 2), small(FeatureDependent))
	step(t, n, inChunks(t, n, 0), StepOptions{Scale: .5})
	if err := n.ClearGradients(); err != nil {
		t.Fatal(err)
	}
	for name, g := range gradients(t, n) {
		if slices.ContainsFunc(g, func(v float32) bool { return v != 0 }) {
			t.Errorf("%s keeps its gradient", name)
		}
	}
}
