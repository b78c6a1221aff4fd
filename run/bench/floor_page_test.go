package bench

import (
	"fmt"
	"os"
	"path/filepath"
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
