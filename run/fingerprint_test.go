package run

import (
	"testing"

	"nmn/kernels/tensor"
	"nmn/loader/dataset"
)

// A finished result belongs to one precision. An interrupted run may go on in another precision, as it may on
// another device.
func TestFingerprint_TellsPrecisionsApart(t *testing.T) {
	ran := DefaultConfig()
	ran.Data.TrainSize, ran.Data.ValidationSize, ran.Data.TestSize = 8, 0, 8
	data := value(ran.OpenData(t.Context(), dataset.Options{}))(t)
	defer data.Close()
	of := func(precision tensor.Precision, device string) string {
		c := ran
		c.Run.Precision, c.Run.Device = precision, device
		if key, _, _ := FirstChange(&ran, &c); key != "" {
			t.Errorf("%s on %s cannot go on for its %s", precision, device, key)
		}
		return value(fingerprint(t.Context(), &c, data, ""))(t)
	}
	plain := of(tensor.FP32, "cpu")
	exact := ran
	exact.Run.ConvExact = true
	if id, err := fingerprint(t.Context(), &exact, data, ""); err != nil || id == plain {
		t.Errorf("a result of exact convolutions passes as another one (%v)", err)
	}
	if plain != of(tensor.FP32, "cuda") {
		t.Error("the device changes the identity of a result")
	}
	if of(tensor.FP32, "cuda") == of(tensor.TF32, "cuda") {
		t.Error("a result in tf32 passes as one in fp32")
	}
}

// How often a run is saved by the clock is no part of what it is.
func TestFingerprint_DoesNotDependOnTheMinutesBetweenCheckpoints(t *testing.T) {
	ran := DefaultConfig()
	ran.Data.TrainSize, ran.Data.ValidationSize, ran.Data.TestSize = 8, 0, 8
	data := value(ran.OpenData(t.Context(), dataset.Options{}))(t)
	defer data.Close()
	often := ran
	often.Train.CheckpointMinutes = .5
	if key, was, is := FirstChange(&ran, &often); key != "" {
		t.Errorf("a run cannot go on for its %s: %s, then %s", key, was, is)
	}
	a := value(fingerprint(t.Context(), &ran, data, ""))(t)
	if b, err := fingerprint(t.Context(), &often, data, ""); err != nil || a != b {
		t.Errorf("a result of the same run is not found again (%v)", err)
	}
}
