package rates

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"nmn/internal/expect"
)

// emFixture has scores and labels with the rates that the iterations find from them.
type emFixture struct {
	Cases []struct {
		Name string
		O    struct {
			Shape [2]int
			Data  []float32
		}
		Z        struct{ Data []uint16 } // encoding/json takes []uint8 for base64
		Expected struct {
			PooledQ01 float64 `json:"pooled_q01"`
			PooledQ10 float64 `json:"pooled_q10"`
			Q01, Q10  []float64
			A, B      []float64
		}
	}
}

func readFixture(t *testing.T, name string, into any) {
	t.Helper()
	folder := os.Getenv("NMN_ORACLE")
	if folder == "" {
		folder = filepath.Join("testdata", "oracle")
	}
	b, err := os.ReadFile(filepath.Join(folder, name+".json"))
	expect.OK(t, err)
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %.9g, want %.9g ± %g", what, got, want, tolerance)
	}
}

func TestEstimate_MatchesTheFixture(t *testing.T) {
	var f emFixture
	readFixture(t, "noise_rate_em", &f)
	if len(f.Cases) == 0 {
		t.Fatal("the fixture holds no case")
	}
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			in := Input{Bags: c.O.Shape[0], Classes: c.O.Shape[1], Scores: c.O.Data,
				Labels: make([]uint8, len(c.Z.Data))}
			for i, z := range c.Z.Data {
				in.Labels[i] = uint8(z)
			}
			r, err := Estimate(t.Context(), in, DefaultOptions())
			expect.OK(t, err)
			const tolerance = 1e-6
			near(t, "pooled q01", r.PooledQ01, c.Expected.PooledQ01, tolerance)
			near(t, "pooled q10", r.PooledQ10, c.Expected.PooledQ10, tolerance)
			for k, class := range r.Classes {
				near(t, "q01", class.Q01, c.Expected.Q01[k], tolerance)
				near(t, "q10", class.Q10, c.Expected.Q10[k], tolerance)
				near(t, "a", class.A, c.Expected.A[k], tolerance)
				near(t, "b", class.B, c.Expected.B[k], tolerance)
			}
		})
	}
}
