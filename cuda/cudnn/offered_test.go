//go:build cuda

package cudnn

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// offered is a line for each shape: its engines by handle, the fastest first, and what the description of the
// same device hides or adds.
func offered(shapes []Shape, handle, described func(Shape) []int64) (lines []string, hidden int) {
	without := func(list, of []int64) []int64 {
		return slices.DeleteFunc(slices.Clone(list), func(e int64) bool { return slices.Contains(of, e) })
	}
	for _, s := range shapes {
		byHandle, byDescription := handle(s), described(s)
		line := fmt.Sprintf("%v: engines %v", s, byHandle)
		if lost := without(byHandle, byDescription); len(lost) > 0 {
			line += fmt.Sprintf(", by handle alone %v", lost)
			hidden++
		}
		if more := without(byDescription, byHandle); len(more) > 0 {
			line += fmt.Sprintf(", by description alone %v", more)
		}
		lines = append(lines, line)
	}
	return lines, hidden
}

// enginesAt asks the heuristics for a device. Nothing is compiled.
func enginesAt(at target) func(Shape) []int64 {
	return func(s Shape) []int64 { return engines(at, s) }
}

// The log is a part of bench/gpu.sh's results. It shows whether building by description loses engines.
func TestCard_OffersEnginesByHandleAndByDescription(t *testing.T) {
	h := card(t)
	var lines []string
	var hidden int
	if err := h.device.Do(func() error {
		properties, err := describeHandle(&h.drawn, h.target().handle)
		if err == nil {
			lines, hidden = offered(stepShapes(26, 565), enginesAt(h.target()), enginesAt(target{properties: properties}))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("cuDNN %d: the description hides engines of %d of %d passes\n%s", Version(), hidden, len(lines),
		strings.Join(lines, "\n"))
}

func TestH100_OffersEnginesForAllPasses(t *testing.T) {
	at := enginesAt(target{properties: describe(t).properties})
	shapes := stepShapes(26, 565)
	lines, hidden := offered(shapes, at, at)
	if len(lines) != len(shapes) || hidden != 0 {
		t.Errorf("%d lines for %d passes, %d of them with hidden engines", len(lines), len(shapes), hidden)
	}
	for i, s := range shapes {
		want := !use{s.Pass, s.Conv}.hidden() && (driver != nil || !s.Pass.besides() && !s.Conv.Wide)
		if none := strings.HasSuffix(lines[i], "engines []"); want && none || strings.Contains(lines[i], "alone") {
			t.Error(lines[i])
		}
	}
	t.Log(strings.Join(lines[:4], "\n"))
}

func TestOffered_ShowsWhatOneSideLacks(t *testing.T) {
	lines, hidden := offered([]Shape{{Forward, bf16}, {DataGradient, bf16}},
		func(s Shape) []int64 { return []int64{70, 4, 7} },
		func(s Shape) []int64 {
			if s.Pass == Forward {
				return []int64{7, 70, 4}
			}
			return []int64{7, 1}
		})
	if hidden != 1 || !strings.HasSuffix(lines[0], " bf16: engines [70 4 7]") ||
		!strings.HasSuffix(lines[1], "engines [70 4 7], by handle alone [70 4], by description alone [1]") {
		t.Errorf("%d hidden in\n%s", hidden, strings.Join(lines, "\n"))
	}
}
