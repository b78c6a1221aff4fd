//go:build cuda

package bench

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/cuda"
	"nmn/kernels"
	"nmn/kernels/conform"
	"nmn/kernels/ledger"
	"nmn/kernels/profile"
	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/run"
)

// traced is a card that notes what is launched. As a clock its marks stand between launches.
type traced struct {
	kernels.Backend
	names []string
	marks []int
}

// Mark implements kernels.Clock.
func (c *traced) Mark(number int) error {
	for len(c.marks) <= number {
		c.marks = append(c.marks, 0)
	}
	c.marks[number] = len(c.names)
	return nil
}

// Between implements kernels.Clock.
func (c *traced) Between(int, int) (time.Duration, error) { return 0, nil }

// openTraced opens the card that NMN_TEST_DEVICE asks for: `make emulate` has the emulator there.
func openTraced(t *testing.T, p tensor.Precision) *traced {
	t.Helper()
	if !strings.HasPrefix(os.Getenv(conform.DeviceEnv), "cuda") {
		conform.Skip(t, "cuda", conform.DeviceEnv+" names no card")
	}
	c := &traced{}
	trace := func(launch string, _ time.Duration) {
		if strings.HasPrefix(launch, "cudnn ") {
			launch, _, _ = strings.Cut(launch, " of ") // without its shape
		}
		c.names = append(c.names, strings.TrimPrefix(launch, "kernels."))
	}
	var err error
	c.Backend, err = kernels.OpenCUDA(kernels.CUDAConfig{Precision: p, NoGraphs: true,
		Device: cuda.Options{SyncLaunches: true, Trace: trace}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// tracedNets are small, and go all ways that a convolution goes: channels that are multiples of 8 and others, with
// dropout and without.
var tracedNets = map[string]Net{
	"bags":     tiny,
	"multiple": {Arch: run.NetScenes, Batch: 2, Size: 32, Width: .5, Classes: 8, MIL: true, Noise: true},
	"plain":    {Arch: run.NetScenes, Batch: 2, Size: 47, Width: .25, Classes: 5},
	"dropout":  {Arch: run.NetVGG16, Batch: 1, Size: 200, Width: .02, Classes: 3, MIL: true},
}

// A ledger writes down what a card launches, operation by operation and in the same order.
func TestCUDA_LaunchesAreThoseOfTheLedger(t *testing.T) {
	for _, p := range []tensor.Precision{tensor.FP32, tensor.TF32, tensor.BF16} {
		card := openTraced(t, p)
		for name, n := range tracedNets {
			t.Run(string(p)+"/"+name, func(t *testing.T) {
				for _, forward := range []bool{false, true} {
					compareLaunches(t, card, n, floorOf(t, n, p, forward))
				}
			})
		}
	}
}

func compareLaunches(t *testing.T, card *traced, n Net, want *FloorFigures) {
	t.Helper()
	recorder := profile.New(card)
	net, err := model.New(n.Model(), recorder)
	if err != nil {
		t.Fatal(err)
	}
	label(recorder, net)
	for range 2 { // the first time plans are chosen, by launches that no other step has
		card.names = nil
		if want.Forward {
			err = errors.Join(err, evaluated(recorder, net, n))
		} else {
			_, stepErr := stepped(recorder, net, n)
			err = errors.Join(err, stepErr)
		}
	}
	if err := errors.Join(err, net.Close()); err != nil {
		t.Fatal(err)
	}
	next := 0
	for i, o := range recorder.Ops() {
		names := card.names[card.marks[i]:card.marks[i+1]]
		if o.Layer == "host" {
			continue
		}
		if next == len(want.Ops) {
			t.Fatalf("the card does %v, the ledger has nothing more", &o)
		}
		planned := &want.Ops[next]
		next++
		if planned.Layer != o.Layer || planned.Pass != o.Name || planned.Shape != o.Shape {
			t.Fatalf("the card does %v, the ledger has %s of %s, %s", &o, planned.Pass, planned.Layer, planned.Shape)
		}
		kernels := slices.DeleteFunc(slices.Clone(planned.Kernels),
			func(k string) bool { return k == ledger.Memcpy || k == ledger.Memset })
		if !slices.Equal(names, kernels) && !chosen(card, names, kernels) {
			t.Errorf("%v: the card launches %q, the ledger has %q", &o, names, kernels)
		}
	}
	if next < len(want.Ops) {
		t.Errorf("the ledger has %s of %s, the card does nothing more", want.Ops[next].Pass, want.Ops[next].Layer)
	}
}

// chosen reports whether a card has launched another way of the same convolution, which it measured to be faster.
func chosen(card *traced, names, kernels []string) bool {
	return card.Precision() == tensor.BF16 && slices.ContainsFunc(ledger.Instead(kernels),
		func(way []string) bool { return slices.Equal(names, way) })
}

// What a card holds at most is what the ledger counts, and some small memory of operations: sums of parts, and the list
// of parameters.
func TestCUDA_MemoryIsThatOfTheLedger(t *testing.T) {
	const small = 1 << 20
	n := Net{Arch: run.NetScenes, Batch: 4, Size: 48, Width: 1, MIL: true, Noise: true}
	card := openTraced(t, tensor.BF16)
	recorder := profile.New(card)
	net, err := model.New(n.Model(), recorder)
	if err != nil {
		t.Fatal(err)
	}
	_, err = stepped(recorder, net, n)
	if err := errors.Join(err, net.Close()); err != nil {
		t.Fatal(err)
	}
	held, want := card.Backend.(kernels.Accountant).MostBytes(), floorOf(t, n, tensor.BF16, false).held
	if held < want || held > want+small {
		t.Errorf("the card holds %d bytes, the ledger %d", held, want)
	}
}
