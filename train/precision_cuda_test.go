//go:build cuda

package train

import (
	"maps"
	"math"
	"slices"
	"testing"

	"nmn/kernels/tensor"
	"nmn/model"
	"nmn/tools/conform"
)

// descent is a run that is long enough to learn something, on a net whose channels suit tensor cores.
func descent(p tensor.Precision) rig {
	r := newRig()
	r.mil, r.noise, r.dropout, r.config.Stage1Epochs = true, model.FeatureDependent, .2, 6
	r.device = cardIn(p, false)
	return r
}

// The loss falls in reduced precision as it does in float32.
func TestCUDA_TrainsInEveryPrecision(t *testing.T) {
	_, reported, _ := ranOn(t, descent(tensor.FP32))
	want := everyOther(reported)
	for _, p := range []tensor.Precision{tensor.TF32, tensor.BF16} {
		trainer, reported, _ := ranOn(t, descent(p))
		got := everyOther(reported)
		first, last := mean(want[:5])-mean(want[len(want)-5:]), mean(got[:5])-mean(got[len(got)-5:])
		if !(first > .2) || !(math.Abs(last/first-1) < .1) {
			t.Errorf("the loss falls by %.3g in %s, by %.3g in float32", last, p, first)
		}
		for i := range want {
			if off := math.Abs(got[i]/want[i] - 1); !(off < .05) {
				t.Errorf("%s: loss %d is %v, %v in float32", p, i, got[i], want[i])
			}
		}
		if slices.Equal(got, want) {
			t.Errorf("the losses in %s are those in float32: nothing was rounded", p)
		}
		copied(t, trainer.Net, p)
	}
}

func everyOther(list []float64) (some []float64) {
	for i := 0; i < len(list); i += 2 {
		some = append(some, list[i])
	}
	return some
}

// copied checks that updates have brought the weights to their copies.
func copied(t *testing.T, net *model.Net, p tensor.Precision) {
	t.Helper()
	count := 0
	for _, q := range net.Params() {
		if q.Copy == nil {
			continue
		}
		count++
		want := conform.Download(t, net.Backend(), q.W)
		half := make([]uint16, len(want))
		tensor.RoundBFloat16(half, want)
		tensor.WidenBFloat16(want, half)
		if !slices.Equal(conform.Download(t, net.Backend(), q.Copy), want) {
			t.Errorf("the copy of %s is another one after training", q.Name)
		}
	}
	if (count > 0) != (p == tensor.BF16) {
		t.Errorf("%d parameters have copies in %s", count, p)
	}
}

func TestCUDA_ResumeInReducedPrecisionEqualsUnbrokenRunBitForBit(t *testing.T) {
	precisions := []tensor.Precision{tensor.TF32, tensor.BF16}
	changes := resumable()
	for i, name := range slices.Sorted(maps.Keys(changes)) {
		change := changes[name]
		for j, p := range precisions {
			t.Run(string(p)+", "+name, func(t *testing.T) {
				if testing.Short() && i%len(precisions) != j {
					t.Skip("each setting in one of the precisions")
				}
				r := newRig()
				change(&r)
				r.device = cardIn(p, false)
				var unbroken []float64
				r.observers = []Observer{record(&unbroken)}
				trainer := r.trainer(t)
				want := run(t, trainer)
				r.directory = t.TempDir()
				losses := interrupted(t, r, want.Step/2-1, 1)
				resumed, _ := resume(t, r, &losses, 1)
				if !slices.Equal(losses, unbroken) || !maps.EqualFunc(weights(t, resumed.Net), weights(t, trainer.Net),
					slices.Equal) {
					t.Errorf("losses %v, unbroken %v", losses, unbroken)
				}
			})
		}
	}
}

func TestCUDA_RecordedTrainingInBF16EqualsUnrecordedBitForBit(t *testing.T) {
	r := descent(tensor.BF16)
	r.device = cardIn(tensor.BF16, true)
	_, want, wantWeights := ranOn(t, r)
	late(t, "all")
	r.device = cardIn(tensor.BF16, false)
	trainer, got, gotWeights := ranOn(t, r)
	if !slices.Equal(got, want) || !maps.EqualFunc(gotWeights, wantWeights, slices.Equal) || graphs(trainer) < 2 {
		t.Errorf("%d graphs; losses and norms %v, unrecorded %v", graphs(trainer), got, want)
	}
}

// Checkpoints are float32 in every precision, so a run can continue in another precision.
func TestCUDA_CheckpointsGoOnInAnotherPrecision(t *testing.T) {
	r := descent(tensor.BF16)
	r.directory = t.TempDir()
	losses := interrupted(t, r, 9, 1)
	for _, p := range []tensor.Precision{tensor.FP32, tensor.BF16} {
		r.device = cardIn(p, false)
		r.observers = nil
		trainer := r.resumed(t)
		if trainer.Position().Step != 9 {
			t.Fatalf("resumed at %+v", trainer.Position())
		}
		copied(t, trainer.Net, p)
	}
	var rest []float64
	r.device, r.observers = nil, []Observer{record(&rest)} // the host
	trainer := r.resumed(t)
	run(t, trainer)
	if len(losses)+len(rest) != 30 || !(mean(rest[len(rest)-5:]) < mean(losses[:5])) {
		t.Errorf("losses %v, then %v", losses, rest)
	}
}
