package model

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/tools/conform"
)

// Whichever parameters learn, in whole batches and in chunks, each gets the gradient that it gets when all learn.
// A layer's gradients are complete when the step reports them, in the order of Gradients. Every gradient is
// reported.
func TestFreeze_LeavesOtherGradientsAsTheyWere(t *testing.T) {
	configs := nets()
	configs["no noise"], configs["fi"] = small(NoNoise), small(FeatureIndependent)
	inWholeAndChunks(t, configs, func(t *testing.T, c Config, chunk int) {
		n := unsettled(t, newNet(t, conform.OpenCPU(t, 2), c))
		p := inChunks(t, n, chunk)
		checkDone(t, n, p)
		all := gradients(t, n)
		for _, pattern := range []string{"^backbone.conv1", "^backbone", "^backbone.conv2_1",
			"^backbone.(conv|layer[12])|^nmn", "^head", "^head.fc[16]", "^head.fc2", "^head.fc3.bias", "^nmn", "^nmn.weight",
			"bias$", "weight$", "!layer2.0.downsample", "!layer2.0.conv2.weight"} {
			expression, but := strings.CutPrefix(pattern, "!")
			match := regexp.MustCompile(expression)
			frozen := func(p *Param) bool { return match.MatchString(p.Name) != but }
			expect.OK(t, n.Freeze(frozen))
			checkDone(t, n, p)
			some := gradients(t, n)
			for _, param := range n.Params() {
				if frozen(param) != (some[param.Name] == nil) {
					t.Errorf("%s rests: %s has a gradient: %t", pattern, param.Name, some[param.Name] != nil)
				}
			}
			sameGradients(t, pattern+" rests", some, all, 0)
		}
	})
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
	inWholeAndChunks(t, nets(), func(t *testing.T, c Config, chunk int) {
		for _, accumulate := range []bool{false, true} {
			n := unsettled(t, newNet(t, conform.OpenCPU(t, 2), c))
			p := inChunks(t, n, chunk)
			run := func(parts ...StepPart) map[string][]float32 {
				o := StepOptions{Scale: .5, DropoutSeed: 3}
				step(t, n, p, o)
				o.Accumulate = accumulate
				for _, part := range parts {
					o.Part = part
					step(t, n, p, o)
				}
				return gradients(t, n)
			}
			if want := run(WholeStep); !reflect.DeepEqual(run(UpperPart, LowerPart), want) {
				t.Errorf("accumulated %t: the parts make other gradients", accumulate)
			}
		}
	})
}

// After the upper part the gradients of the noise model and of the head are there.
func TestStep_UpperPartCompletesTheHead(t *testing.T) {
	n := newNet(t, conform.OpenCPU(t, 2), small(FeatureDependent))
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
	n := newNet(t, conform.OpenCPU(t, 2), small(FeatureDependent))
	step(t, n, inChunks(t, n, 0), StepOptions{Scale: .5})
	expect.OK(t, n.ClearGradients())
	for name, g := range gradients(t, n) {
		if slices.ContainsFunc(g, func(v float32) bool { return v != 0 }) {
			t.Errorf("%s keeps its gradient", name)
		}
	}
}
