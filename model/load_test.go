package model

import (
	"reflect"
	"testing"

	"nmn/internal/expect"
	"nmn/tools/conform"
)

func TestMatchFile_TellsWhatLoadTakes(t *testing.T) {
	backend := conform.OpenCPU(t, 1)
	f := saved(t, newNet(t, backend, small(FeatureDependent)))
	need := func(p *Param) Need {
		if p.Name == "head.fc8.weight" {
			return Unwanted
		}
		return Required
	}
	for _, noise := range []NoiseMode{NoNoise, FeatureDependent} {
		want, err := newNet(t, backend, small(noise)).LoadAs(f, need)
		expect.OK(t, err)
		got, err := MatchFile(small(noise), backend, f, need)
		if err != nil || !reflect.DeepEqual(got, want) || len(got.Missing) != 1 ||
			(len(got.Unused) == 2) != (noise == NoNoise) {
			t.Errorf("noise %s: %+v, %v, want %+v", noise, got, err, want)
		}
	}
	other := small(NoNoise)
	other.FC7++
	expect.Refusal(t, expect.ErrorOf(MatchFile(other, backend, f, need)), "", ErrOtherModel)
}
