package bench

import (
	"fmt"
	"strings"
	"testing"

	"nmn/kernels/tensor"
)

// The marks of the table in docs/benchmarks.md.
const (
	floorBegin = "<!-- floor: written by go test ./run/bench -run Floor -update -->\n"
	floorEnd   = "<!-- end of the floor -->\n"
)

func TestFloor_ThePageHasIt(t *testing.T) {
	page(t, floorBegin, floorEnd, floorPage(t), "go test ./run/bench -run Floor -update")
}

// floorPage has a table of parts for each batch in bf16, and one of whole steps in all precisions.
func floorPage(t *testing.T) string {
	var b strings.Builder
	for _, n := range vggNets {
		f := floorOf(t, n, tensor.BF16, false)
		fmt.Fprintf(&b, "%s, in bf16 on %s:\n\n| part | launches | GB | GFLOP | floor, ms |\n|---|--:|--:|--:|--:|\n",
			batchText(n), f.Card)
		for _, p := range f.Parts {
			workRow(&b, p.Part, p.Work)
		}
		workRow(&b, "**all**", f.Total)
		b.WriteString("\n")
	}
	b.WriteString("Whole steps, and the forward pass of an evaluation:\n\n" +
		"| batch | precision | launches | GB | GFLOP | floor, ms | evaluation, ms | memory, MiB |\n" +
		"|---|---|--:|--:|--:|--:|--:|--:|\n")
	for _, n := range vggNets {
		for _, p := range []tensor.Precision{tensor.BF16, tensor.TF32, tensor.FP32} {
			step, forward := floorOf(t, n, p, false), floorOf(t, n, p, true)
			w := step.Total
			fmt.Fprintf(&b, "| %s | %s | %d | %.2f | %.0f | %.2f | %.2f | %.0f |\n", batchText(n), p, w.Launches,
				float64(w.Bytes)/1e9, w.GFLOP, w.FloorMS, forward.Total.FloorMS, step.MemoryMiB)
		}
	}
	return b.String()
}

func batchText(n Net) string {
	if n.Frames > 1 {
		return fmt.Sprintf("%d × %d frames of %d pixels", n.Batch, n.Frames, n.Size)
	}
	return fmt.Sprintf("%d pictures of %d", n.Batch, n.Size)
}

func workRow(b *strings.Builder, name string, w Work) {
	fmt.Fprintf(b, "| %s | %d | %.2f | %.0f | %.2f |\n", name, w.Launches, float64(w.Bytes)/1e9, w.GFLOP, w.FloorMS)
}
