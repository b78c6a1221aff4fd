package bench

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/kernels/tensor"
	"nmn/run"
)

var rewrite = flag.Bool("update", false, "write the golden files and the table of docs/benchmarks.md anew")

// vggNets are the batches that the project sets itself goals for.
var vggNets = []Net{
	{Arch: run.NetVGG16, Batch: 1, Frames: 26, Size: 565, Width: 1, MIL: true, Noise: true},
	{Arch: run.NetVGG16, Batch: 32, Frames: 1, Size: 224, Width: 1, MIL: true, Noise: true},
}

func h200(t *testing.T) Card {
	t.Helper()
	c, err := CardOf("h200", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func floorOf(t *testing.T, n Net, p tensor.Precision, forward bool) *FloorFigures {
	t.Helper()
	f, err := Floor(n, FloorOptions{Card: h200(t), Precision: p, Forward: forward})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The launches of whole steps, with what each of them reads and writes: a change of the code that moves more, or
// launches more, shows here.
func TestFloor_LaunchesAndBytesOfVGG16(t *testing.T) {
	for _, n := range vggNets {
		for _, p := range []tensor.Precision{tensor.BF16, tensor.TF32, tensor.FP32} {
			name := fmt.Sprintf("%dx%dx%d_%s.tsv", n.Batch, n.Frames, n.Size, p)
			golden(t, filepath.Join("testdata", "launches", name), launchesText(floorOf(t, n, p, false)))
		}
	}
}

// launchesText has a line for each launch.
func launchesText(f *FloorFigures) string {
	var b strings.Builder
	b.WriteString("layer\toperation\tkernel\tread\twritten\tMFLOP\n")
	for _, o := range f.Ops {
		for _, l := range o.launches {
			fmt.Fprintf(&b, "%s\t%s\t%s\t%d\t%d\t%.0f\n", o.Layer, o.Pass, l.Kernel, l.Read, l.Written, l.FLOP/1e6)
		}
	}
	fmt.Fprintf(&b, "all\t%d launches\t%d bytes held\t%d moved\n", f.Total.Launches, f.held, f.Total.Bytes)
	return b.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || was[i] != is[i] {
			t.Errorf("%s, line %d: %q, was %q; if that is meant: go test ./run/bench -run Floor -update",
				path, i+1, at(is, i), at(was, i))
			return
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// The arithmetic is that of the layers' geometry, and of the noise model: three passes over all but the first.
func TestFloor_ArithmeticIsThatOfTheLayers(t *testing.T) {
	for _, n := range vggNets {
		want, forward := 0.0, 0.0
		for _, l := range n.Model().Layers() {
			want += l.TrainFLOP * float64(n.pictures()) / 1e9
			forward += l.ForwardFLOP * float64(n.pictures()) / 1e9
		}
		noise := 2 * 4 * 512 * 1000 * float64(n.Batch) / 1e9
		for _, test := range []struct {
			got, want float64
		}{
			{floorOf(t, n, tensor.FP32, false).Total.GFLOP, want + 3*noise},
			{floorOf(t, n, tensor.FP32, true).Total.GFLOP, forward + noise},
		} {
			if math.Abs(test.got-test.want) > 1e-9*test.want {
				t.Errorf("%d pictures: %v GFLOP, want %v", n.pictures(), test.got, test.want)
			}
		}
	}
}

func TestFloor_PartsAndOperationsSumToTheWhole(t *testing.T) {
	f := floorOf(t, vggNets[0], tensor.BF16, false)
	var parts, ops Work
	for _, p := range f.Parts {
		parts = Work{parts.Launches + p.Launches, parts.Bytes + p.Bytes, parts.GFLOP + p.GFLOP, parts.FloorMS + p.FloorMS}
	}
	for _, o := range f.Ops {
		ops = Work{ops.Launches + o.Launches, ops.Bytes + o.Bytes, ops.GFLOP + o.GFLOP, ops.FloorMS + o.FloorMS}
		if o.Launches != len(o.Kernels) || o.Layer == "unnamed" {
			t.Errorf("an operation is %+v", o)
		}
	}
	for _, w := range []Work{parts, ops} {
		if w.Launches != f.Total.Launches || w.Bytes != f.Total.Bytes || math.Abs(w.FloorMS-f.Total.FloorMS) > 1e-9 {
			t.Errorf("sum %+v, total %+v", w, f.Total)
		}
	}
}

// Of a step nothing is held but what the net counts, the optimizer's state, and the scratch memory of operations.
func TestFloor_MemoryIsWhatTheNetCounts(t *testing.T) {
	for _, n := range append(slices.Clone(vggNets), tiny) {
		for _, forward := range []bool{false, true} {
			f := floorOf(t, n, tensor.BF16, forward)
			if diff := f.MemoryMiB - f.PlannedMiB - f.ScratchMiB; math.Abs(diff) > 1e-6 {
				t.Errorf("%d pictures: %v MiB are held, %v planned and %v scratch", n.pictures(), f.MemoryMiB,
					f.PlannedMiB, f.ScratchMiB)
			}
		}
	}
}

// Nothing is held: what no host has room for has a floor all the same, and what no card can index has an error.
func TestFloor_OfBatchesBeyondTheHost(t *testing.T) {
	n := vggNets[0]
	n.Batch = 40
	if f := floorOf(t, n, tensor.FP32, false); f.MemoryMiB < 400_000 || f.Total.Launches < 80 {
		t.Errorf("%v MiB, %d launches", f.MemoryMiB, f.Total.Launches)
	}
	n.Batch = 1_000_000
	if _, err := Floor(n, FloorOptions{Card: h200(t)}); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a million bags: %v", err)
	}
}

func TestFloor_ForwardIsTheForwardPassAlone(t *testing.T) {
	f := floorOf(t, vggNets[1], tensor.BF16, true)
	for _, o := range f.Ops {
		if strings.Contains(o.Pass, "gradient") || o.Layer == "all" || strings.Contains(o.Pass, "dropout") {
			t.Errorf("an evaluation has %s of %s", o.Pass, o.Layer)
		}
	}
	if whole := floorOf(t, vggNets[1], tensor.BF16, false); f.Total.FloorMS > .4*whole.Total.FloorMS {
		t.Errorf("%v ms of %v", f.Total.FloorMS, whole.Total.FloorMS)
	}
}

// A launch takes as long as its bytes or its products, whichever is longer.
func TestFloor_FollowsTheRates(t *testing.T) {
	n := vggNets[0]
	slow, err := CardOf("h100", 1, 1e6)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Floor(n, FloorOptions{Card: slow, Precision: tensor.BF16})
	if err != nil {
		t.Fatal(err)
	}
	if want := float64(f.Total.Bytes) / 1e9; math.Abs(f.Total.FloorMS-want) > 1e-6*want {
		t.Errorf("%v ms at 1 TB/s, want %v", f.Total.FloorMS, want)
	}
	fast, err := CardOf("h100", 1e6, 100)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = Floor(n, FloorOptions{Card: fast, Precision: tensor.BF16}); err != nil {
		t.Fatal(err)
	}
	if want := f.Total.GFLOP / 100; math.Abs(f.Total.FloorMS-want) > 1e-3*want {
		t.Errorf("%v ms at 100 TFLOP/s, want %v", f.Total.FloorMS, want)
	}
	if _, err := CardOf("h300", 0, 0); err == nil || !strings.Contains(err.Error(), "h200 or h100") {
		t.Errorf("an unknown card: %v", err)
	}
	for device, want := range map[string]string{"cuda:0 NVIDIA H100 80GB HBM3, bf16": "h100", "cuda:1 NVIDIA H200": "h200",
		"cpu avx2": "", "cuda:0 NVIDIA H100 PCIe, bf16": "", "cuda:0 NVIDIA GH200 480GB": "", "cuda:0 NVIDIA H100 NVL": ""} {
		if c, ok := CardNamed(device); c.Name != want || ok != (want != "") {
			t.Errorf("%s is %q", device, c.Name)
		}
	}
}

// What was measured gets the floor of the same operation; what moves between host and device has none.
func TestOperations_AgainstTheFloor(t *testing.T) {
	f, err := Operations(t.Context(), cpu(t), tiny, twice)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Against(tiny, h200(t)); err != nil {
		t.Fatal(err)
	}
	plan := floorOf(t, tiny, tensor.FP32, false)
	if math.Abs(f.FloorMS-plan.Total.FloorMS) > 1e-12 || f.Card == nil {
		t.Errorf("floor %v ms, that of the plan %v", f.FloorMS, plan.Total.FloorMS)
	}
	for _, o := range f.Ops {
		if moved := o.Layer == "host" || o.Pass == "copy"; moved != (o.FloorMS == 0) {
			t.Errorf("%s of %s has a floor of %v", o.Pass, o.Layer, o.FloorMS)
		}
	}
}
