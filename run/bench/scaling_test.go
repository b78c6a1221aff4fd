package bench

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"nmn/kernels/tensor"
)

func fabricOf(t *testing.T, name string) Fabric {
	t.Helper()
	f, err := FabricOf(name, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func scalingOf(t *testing.T, n Net, o ScalingOptions) *ScalingFigures {
	t.Helper()
	o.Card = h200(t)
	f, err := Scaling(n, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Of n parties each sends 2 (n-1)/n of the bytes around a ring; many use the tree, whose messages are fewer.
func TestFabric_SumsAtTheRatesOfItsLinks(t *testing.T) {
	f := Fabric{HostCards: 4, HostGBs: 100, NetGBs: 10}
	for cards, want := range map[int]float64{1: 0, 2: 10, 4: 15, 8: 15 + 100, 16: 15 + 150} {
		if got := f.allReduceMS(1e9, cards); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d cards sum a GB in %g ms, want %g", cards, got, want)
		}
	}
	f.NetLatencyUS = 10
	few, many := f.allReduceMS(1e3, 8), f.allReduceMS(1e3, 4096)
	if few < .02 || few > .03 || many > 20*2*.01+.1 {
		t.Errorf("1,000 bytes take %g and %g ms", few, many)
	}
}

func TestFabric_RefusesWhatItDoesNotKnow(t *testing.T) {
	if _, err := FabricOf("token ring", 0, 0); err == nil || !strings.Contains(err.Error(), "infiniband") {
		t.Errorf("error %v, want one that names the networks", err)
	}
	if f, err := FabricOf("ethernet-25", 4, 200); err != nil || f.HostCards != 4 || f.NetGBs != .9*25 {
		t.Errorf("%+v, %v", f, err)
	}
}

// Buckets have every gradient once, in the order in which the backward pass leaves them; the head's come first.
func TestScaling_BucketsHoldAllGradientsInTheirOrder(t *testing.T) {
	f := scalingOf(t, vggNets[0], ScalingOptions{StepMS: 37, Fabric: fabricOf(t, "infiniband"), Cards: []int{1, 64}})
	bytes, ready := 0, 0.0
	for _, b := range f.Buckets {
		if b.ReadyMS < ready || b.ReadyMS > f.BackwardMS {
			t.Errorf("bucket %v is ready after %g ms, the one before after %g", b.Layers, b.ReadyMS, ready)
		}
		bytes, ready = bytes+b.Bytes, b.ReadyMS
	}
	if bytes != f.GradientBytes || bytes != 4*140_409_544 {
		t.Errorf("buckets have %d bytes of %d", bytes, f.GradientBytes)
	}
	if got := fmt.Sprint(f.Buckets[0].Layers, f.Buckets[1].Layers); got != "[nmn fc8 fc7] [fc6]" {
		t.Errorf("the first buckets have %s", got)
	}
	if head := f.Buckets[1].ReadyMS; head < .3*37 || head > .4*37 {
		t.Errorf("the head is ready after %g ms", head)
	}
	if f.HeadShare < .87 || f.HeadShare > .91 || math.Abs(ready-f.BackwardMS) > 1e-9 {
		t.Errorf("the head has %g of the gradients; the last are ready after %g of %g ms", f.HeadShare, ready, f.BackwardMS)
	}
	one, many := f.Scaled[0], f.Scaled[1]
	if one.StepMS != 37 || one.OverlappedMS != 37 || one.AllReduceMS != 0 {
		t.Errorf("one card takes %+v", one)
	}
	if !(many.OverlappedMS > 37 && many.OverlappedMS < many.StepMS) || math.Abs(many.StepMS-37-many.AllReduceMS) > 1e-9 {
		t.Errorf("64 cards take %+v", many)
	}
}

// Half the bytes take half the time between hosts, and rounding costs a little.
func TestScaling_HalfWire(t *testing.T) {
	o := ScalingOptions{Precision: tensor.BF16, Fabric: fabricOf(t, "ethernet-25"), Cards: []int{64}}
	full := scalingOf(t, vggNets[1], o)
	o.HalfWire = true
	half := scalingOf(t, vggNets[1], o)
	if 2*half.GradientBytes != full.GradientBytes {
		t.Errorf("%d bytes, and %d by halves", full.GradientBytes, half.GradientBytes)
	}
	ratio := half.Scaled[0].AllReduceMS / full.Scaled[0].AllReduceMS
	if ratio < .5 || ratio > .51 {
		t.Errorf("half the bytes take %g of the time", ratio)
	}
	if full.StepMS != full.FloorMS {
		t.Errorf("a step takes %g ms, the floor is %g", full.StepMS, full.FloorMS)
	}
}
