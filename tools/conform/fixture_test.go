package conform

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestLoadFixture_ReadsEveryFile(t *testing.T) {
	names := FixtureNames(t, "*")
	if len(names) < 30 && !slices.Contains(names, "MANIFEST") {
		t.Errorf("only %d fixtures: %q", len(names), names)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "eval") && name != "MANIFEST" && name != "label_audit" && name != "noise_rate_em" {
			if f := LoadFixture(t, name); f.Name != name {
				t.Errorf("%s calls itself %q", name, f.Name)
			}
		}
	}
}

func TestArray_NHWCMovesChannelsLast(t *testing.T) {
	a := Array{Shape: []int{2, 3, 2, 2}, Data: make([]float64, 24)}
	for i := range a.Data {
		a.Data[i] = float64(i)
	}
	b := a.NHWC()
	if !slices.Equal(b.Shape, []int{2, 2, 2, 3}) {
		t.Fatalf("shape %v", b.Shape)
	}
	for n := range 2 {
		for c := range 3 {
			for h := range 2 {
				for w := range 2 {
					if got, want := b.Data[((n*2+h)*2+w)*3+c], a.Data[((n*3+c)*2+h)*2+w]; got != want {
						t.Errorf("n %d, c %d, h %d, w %d: %v, want %v", n, c, h, w, got, want)
					}
				}
			}
		}
	}
}

func TestArray_CompareFindsTheWorst(t *testing.T) {
	strict := 1e-30
	a := Array{Name: "x", Shape: []int{3}, Data: []float64{1, 100, math.NaN()}, Tolerance: &Tolerance{Rtol: 1e-3, Atol: 1}}
	for _, c := range []struct {
		got  []float32
		want string
	}{
		{[]float32{1.5, 101, 7}, ""},
		{[]float32{2.5, 110, 0}, "2 of 3 values are off, worst is element 1"},
		{[]float32{float32(math.NaN()), 200, 0}, "worst is element 0: NaN"},
		{[]float32{1, float32(math.Inf(1)), 0}, "worst is element 1"},
		{[]float32{1, 100}, "2 values, want 3"},
	} {
		err := a.compare(c.got)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.got, err, c.want)
		}
	}
	a.Tolerance = &Tolerance{Rtol: 1e-3, Atol: 1, StrictAtol: &strict}
	if a.compare([]float32{1.5, 100, 0}) == nil {
		t.Error("the strict tolerance was not used")
	}
	a.Tolerance = nil
	if a.compare([]float32{1, 100, 0}) == nil {
		t.Error("an array without a tolerance passed")
	}
}

func TestFixture_GroupsNameParameters(t *testing.T) {
	f := LoadFixture(t, "tiny_net_params")
	names := f.Group("inputs.params")
	for _, name := range []string{"conv1_1.w", "fc8.b", "nmn.U", "nmn.b"} {
		if !slices.Contains(names, name) {
			t.Errorf("no parameter %s in %q", name, names)
		}
	}
	stored, converted := f.Input("params.fc6.w"), f.Parameter("inputs.params", "fc6.w")
	if stored.Shape[1] != converted.Shape[3] {
		t.Errorf("filter %v became %v", stored.Shape, converted.Shape)
	}
	if u := f.Parameter("inputs.params", "nmn.U"); u.Shape[0] != 2 || u.Shape[1] != 2 {
		t.Errorf("nmn.U has shape %v", u.Shape)
	}
}
