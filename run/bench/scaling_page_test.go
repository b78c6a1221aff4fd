package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The marks of the tables in docs/benchmarks.md.
const (
	scalingBegin = "<!-- scaling: written by go test ./run/bench -run Scaling -update -->\n"
	scalingEnd   = "<!-- end of the scaling -->\n"
)

func TestScaling_ThePageHasIt(t *testing.T) {
	page(t, scalingBegin, scalingEnd, scalingPage(t), "go test ./run/bench -run Scaling -update")
}

// page holds what stands between two marks of docs/benchmarks.md, or writes it.
func page(t *testing.T, begin, end, want, cure string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "benchmarks.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(text), begin)
	was, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("%s has no marks %q", path, begin)
	}
	switch {
	case was == want:
	case *rewrite:
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not as it would be written: %s", path, cure)
	}
}

// scalingPage has what a card has to sum, and a table for each batch and network.
func scalingPage(t *testing.T) string {
	few := vggNets[1]
	few.Batch = 4
	nets := []struct {
		net    Net
		stepMS float64
	}{{vggNets[0], 37}, {vggNets[1], 0}, {few, 0}}
	cards := []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}
	var b strings.Builder
	b.WriteString("Of each card, in bf16 on an H200:\n\n| batch of a card | step | GFLOP | GB | gradients, MB | of the head " +
		"| head ready after, ms | all ready after, ms |\n|---|:--|--:|--:|--:|--:|--:|--:|\n")
	for _, n := range nets {
		f := scalingOf(t, n.net, ScalingOptions{StepMS: n.stepMS, Fabric: fabrics[0], Cards: cards})
		floor := floorOf(t, n.net, "", false)
		fmt.Fprintf(&b, "| %s | %s | %.0f | %.2f | %.0f | %.0f %% | %.2f | %.2f |\n", batchText(n.net), stepText(f),
			floor.Total.GFLOP, float64(floor.Total.Bytes)/1e9, float64(f.GradientBytes)/1e6, 100*f.HeadShare,
			f.Buckets[0].ReadyMS, f.BackwardMS)
	}
	for _, n := range nets {
		for _, half := range []bool{false, true} {
			scalingTable(t, &b, n.net, ScalingOptions{StepMS: n.stepMS, HalfWire: half, Cards: cards})
		}
	}
	return b.String()
}

func stepText(f *ScalingFigures) string {
	if f.StepMS == f.FloorMS {
		return fmt.Sprintf("%.2f ms (the floor)", f.FloorMS)
	}
	return fmt.Sprintf("%.2f ms (the goal)", f.StepMS)
}

// scalingTable has a line for each number of cards, and three columns for each network.
func scalingTable(t *testing.T, b *strings.Builder, n Net, o ScalingOptions) {
	var all []*ScalingFigures
	for _, fabric := range fabrics {
		o.Fabric = fabric
		all = append(all, scalingOf(t, n, o))
	}
	fmt.Fprintf(b, "\n%s a card, a step of %s, gradients in %s; ms of the sums, and a card's speed as a share of one "+
		"alone, behind > beside:\n\n| cards |", batchText(n), stepText(all[0]), all[0].Wire)
	for _, f := range fabrics {
		fmt.Fprintf(b, " %s: sums | speed |", f.Name)
	}
	b.WriteString("\n|--:|" + strings.Repeat("--:|--:|", len(fabrics)) + "\n")
	for i, cards := range o.Cards {
		fmt.Fprintf(b, "| %d |", cards)
		for _, f := range all {
			s := f.Scaled[i]
			fmt.Fprintf(b, " %.2f | %.2f > %.2f |", s.AllReduceMS, s.Unhidden, s.Efficiency)
		}
		b.WriteString("\n")
	}
}
