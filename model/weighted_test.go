package model

import (
	"reflect"
	"slices"
	"testing"

	"nmn/tools/conform"
)

// A row of weight 2 counts as two equal rows, and a row of weight 0 as none, for all kinds of nets and of labels.
func TestStep_WeightsCountRows(t *testing.T) {
	const features, classes = 5, 3
	weights, copies := []float32{2, 0, 1, 3}, []int{0, 0, 2, 3, 3, 3}
	for _, of := range []struct {
		noise     NoiseMode
		exclusive bool
		options   StepOptions
	}{{NoNoise, false, StepOptions{}}, {FeatureIndependent, false, StepOptions{}},
		{FeatureDependent, false, StepOptions{}},
		{FeatureDependent, false, StepOptions{WithoutNoise: true}}, {NoNoise, false, StepOptions{Evidence: true}},
		{NoNoise, false, StepOptions{LargeLosses: LargeLosses{Treatment: CorrectLarge, Count: 1}}},
		{NoNoise, true, StepOptions{}}, {FeatureIndependent, true, StepOptions{}}} {
		c := MLP(features, classes, []int{4})
		c.Dropout, c.Noise, c.Exclusive = 0, of.noise, of.exclusive
		n := newNet(t, conform.OpenCPU(t, 2), c)
		x := values(t, n, func() *Plan { p := plan(t, n, 4, 4); fill(t, n, p, 0); return p }().X)
		labels := []float32{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0}
		learn := func(rows []int, weights []float32) (map[string][]float32, float64) {
			p := plan(t, n, len(rows), len(rows))
			var rowsX, rowsZ []float32
			for _, row := range rows {
				rowsX = append(rowsX, x[row*features:][:features]...)
				rowsZ = append(rowsZ, labels[row*classes:][:classes]...)
			}
			conform.Put(t, n.backend, p.X, rowsX)
			conform.Put(t, n.backend, p.Labels, rowsZ)
			o := of.options
			o.Scale, o.Weighted = .25, weights != nil
			if o.Weighted {
				conform.Put(t, n.backend, p.Weights, weights)
			}
			step(t, n, p, o)
			return gradients(t, n), lossOf(t, n, p)
		}
		all := []int{0, 1, 2, 3}
		if of.options.LargeLosses.Count == 0 { // which copies would take more of
			want, loss := learn(copies, nil)
			got, weighted := learn(all, weights)
			sameGradients(t, "weighted", got, want, 1e-5)
			if d := weighted - loss; d > 1e-5*loss || d < -1e-5*loss {
				t.Errorf("%+v: loss %g, want %g", of, weighted, loss)
			}
			none, loss := learn(all, []float32{0, 0, 0, 0})
			for name, values := range none {
				if loss != 0 || slices.ContainsFunc(values, func(g float32) bool { return g != 0 }) {
					t.Errorf("%+v: weights of 0 give loss %g and gradients of %s", of, loss, name)
				}
			}
		}
		want, loss := learn(all, nil)
		if got, same := learn(all, []float32{1, 1, 1, 1}); !reflect.DeepEqual(got, want) || same != loss {
			t.Errorf("%+v: weights of 1 change the gradients", of)
		}
	}
}
