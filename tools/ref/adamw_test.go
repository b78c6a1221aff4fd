package ref

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// testdata/adamw.py writes the results of torch.optim.AdamW for a few parameters in float64.
func TestAdamW_IsThatOfPyTorch(t *testing.T) {
	encoded, err := os.ReadFile("testdata/adamw.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			LR, Decay, Beta1, Beta2, Epsilon float64
			Start                            []float64
			Gradients, Weights               [][]float64
		}
	}
	if err := json.Unmarshal(encoded, &file); err != nil || len(file.Cases) == 0 {
		t.Fatal(err, len(file.Cases))
	}
	for i, c := range file.Cases {
		w, m, v := slices.Clone(c.Start), make([]float64, len(c.Start)), make([]float64, len(c.Start))
		for step, g := range c.Gradients {
			AdamW(w, g, m, v, c.LR, c.Decay, c.Beta1, c.Beta2, c.Epsilon, step+1)
			for k, want := range c.Weights[step] {
				if !(math.Abs(w[k]-want) <= 1e-12*(1+math.Abs(want))) {
					t.Fatalf("case %d, step %d: weight %d is %g, PyTorch has %g", i, step+1, k, w[k], want)
				}
			}
		}
	}
}

func TestAverage_WeighsByTheDecay(t *testing.T) {
	average := []float64{1, -4}
	Average(average, []float64{3, 0}, .75)
	if !slices.Equal(average, []float64{1.5, -3}) {
		t.Error(average)
	}
}
