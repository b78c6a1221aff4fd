package report

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestLossDerivative_IsThePapersFigure3(t *testing.T) {
	folder := os.Getenv("NMN_ORACLE")
	if folder == "" {
		folder = filepath.Join("testdata", "oracle")
	}
	b := value(os.ReadFile(filepath.Join(folder, "figure3.json")))(t)
	type array struct{ Data []float64 }
	var f struct {
		Inputs struct {
			P1 array
			Q  float64
		}
		Expected struct {
			FreeZ0     array                       `json:"free_z0"`
			FreeZ1     array                       `json:"free_z1"`
			NMNZ0      array                       `json:"nmn_z0"`
			NMNZ1      array                       `json:"nmn_z1"`
			ExtremumZ1 struct{ P1, Value float64 } `json:"extremum_z1"`
		}
		Tolerance map[string]struct{ Atol float64 }
	}
	check(t, json.Unmarshal(b, &f))
	q := f.Inputs.Q
	for _, c := range []struct {
		name string
		z    int
		q    float64
		want []float64
	}{{"free_z0", 0, 0, f.Expected.FreeZ0.Data}, {"free_z1", 1, 0, f.Expected.FreeZ1.Data},
		{"nmn_z0", 0, q, f.Expected.NMNZ0.Data}, {"nmn_z1", 1, q, f.Expected.NMNZ1.Data}} {
		if len(c.want) == 0 || len(c.want) != len(f.Inputs.P1.Data) {
			t.Fatalf("%s: %d points for %d probabilities", c.name, len(c.want), len(f.Inputs.P1.Data))
		}
		for i, p1 := range f.Inputs.P1.Data {
			if got := LossDerivative(c.z, p1, c.q, c.q); !(math.Abs(got-c.want[i]) <= f.Tolerance[c.name].Atol) {
				t.Fatalf("%s at p1 = %v: %v, want %v", c.name, p1, got, c.want[i])
			}
		}
	}
	if got := LossDerivative(1, f.Expected.ExtremumZ1.P1, q, q); math.Abs(got-f.Expected.ExtremumZ1.Value) > 1e-9 {
		t.Errorf("extremum: %v, want %v", got, f.Expected.ExtremumZ1.Value)
	}
}

func TestFigure3_WritesAWellFormedPicture(t *testing.T) {
	svg := said(t, Figure3)
	if said(t, Figure3) != svg {
		t.Error("drawn twice, the figure differs")
	}
	parsed(t, svg)
	has(t, svg, "Missing label", "Incorrect label", "noise-free", "NMN, q01 = q10 = 0.05", "Prediction")
}
