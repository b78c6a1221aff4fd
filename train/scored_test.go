package train

import (
	"math"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/model"

	dense "gorgonia.org/tensor"
)

// rowsSet is a set of feature vectors with some labels.
func rowsSet(t *testing.T, rows rowsOf, words ...string) *loader.Set {
	t.Helper()
	labels := make([]uint8, len(rows)*len(words))
	set := &loader.Set{Name: "rows", Vocabulary: wordsOf(t, words...), Vectors: rows}
	for i := range labels {
		labels[i] = uint8(i % 3 % 2)
	}
	for i := range rows {
		set.IDs = append(set.IDs, "row "+string(rune('a'+i)))
	}
	set.Labels = dense.New(dense.WithShape(len(rows), len(words)), dense.WithBacking(labels))
	return set
}

// Scoring reads unchanged pictures without dropout, in the order of the set, whatever training does.
func TestScore_LooksAtPicturesAsTheyAre(t *testing.T) {
	r := newRig()
	o := r.options(t)
	config := o.loaderConfig()
	config.Flip, config.Shuffle = false, false
	want, err := Score(t.Context(), o.Net, o.Data, config)
	check(t, err)
	r.dropout = .5
	o = r.options(t) // the same weights
	config.Flip, config.Shuffle, config.BatchSize = true, true, 7
	got, err := Score(t.Context(), o.Net, o.Data, config)
	check(t, err)
	if !slices.Equal(got.Index, want.Index) || !slices.Equal(got.Logits.Float32s(), want.Logits.Float32s()) {
		t.Errorf("scores of bags %v with the settings of training, %v without, or other logits", got.Index, want.Index)
	}
}

// standardNets are two nets with the same weights: one is shown the first rows as they are, the other the second rows
// by the standard that it keeps.
func standardNets(t *testing.T) (plain, standard *model.Net, standardised, raw rowsOf) {
	t.Helper()
	raw = rowsOf{{10, 200}, {14, 100}, {6, 300}}
	mean, scale := []float32{10, 200}, []float32{.25, .01}
	for _, row := range raw {
		standardised = append(standardised, []float32{(row[0] - mean[0]) * scale[0], (row[1] - mean[1]) * scale[1]})
	}
	plain = noisy(t, model.NoNoise, 2, 3)
	c := plain.Config()
	c.Standardised = true
	standard, err := model.New(c, plain.Backend())
	expect.OK(t, err)
	t.Cleanup(func() { check(t, standard.Close()) })
	check(t, standard.SetStandard(mean, scale))
	for _, p := range plain.Params() {
		values, err := plain.Values(p)
		check(t, err)
		check(t, standard.SetValues(named(standard, p.Name), values))
	}
	return plain, standard, standardised, raw
}

// A net that learned from standardised features scores with the mean and scale that it was saved with, not
// with another set's.
func TestScore_BringsFeaturesOntoTheStandardOfTheNet(t *testing.T) {
	plain, net, standardised, raw := standardNets(t)
	want, err := Score(t.Context(), plain, rowsSet(t, standardised, "a", "b", "c"), loader.DefaultConfig())
	check(t, err)
	for name, other := range map[string]*loader.Standard{"none": nil,
		"another": {Mean: []float32{1, 2}, Scale: []float32{3, 4}}} {
		config := loader.DefaultConfig()
		config.Standard = other
		got, err := Score(t.Context(), net, rowsSet(t, raw, "a", "b", "c"), config)
		check(t, err)
		if !slices.Equal(got.Logits.Float32s(), want.Logits.Float32s()) {
			t.Errorf("standard of the configuration %s: logits %v, want %v", name, got.Logits, want.Logits)
		}
	}
}

func TestRun_LearnsFeaturesOnTheStandardOfTheNet(t *testing.T) {
	plain, net, standardised, raw := standardNets(t)
	config := newRig().config
	config.MaxSteps = 4
	for n, rows := range map[*model.Net]rowsOf{plain: standardised, net: raw} {
		run(t, newTrainer(t, Options{Config: config, Stage: 1, Net: n, Data: rowsSet(t, rows, "a", "b", "c"),
			Loader: loader.DefaultConfig()}))
	}
	sameWeights(t, weights(t, net), weights(t, plain),
		"a net with a standard learns something else than one that is shown standardised rows")
}

// NaN is no score: it compares with nothing, and would be ranked anywhere.
func TestScore_RefusesNaN(t *testing.T) {
	net := noisy(t, model.NoNoise, 2, 3)
	bias := named(net, "head.fc2.bias")
	values, err := net.Values(bias)
	check(t, err)
	values[1] = float32(math.NaN())
	check(t, net.SetValues(bias, values))
	set := rowsSet(t, rowsOf{{1, 2}, {3, 4}}, "a", "b", "c")
	const want = "the logit of sample row a, class 1 is NaN"
	expect.Refusal(t, expect.ErrorOf(Score(t.Context(), net, set, loader.DefaultConfig())), want)
	_, err = EachScore(t.Context(), nil, net, set, loader.DefaultConfig(), func(int, []float32, []float32, []float32) {
		t.Error("EachScore shows a bag with NaN")
	})
	expect.Refusal(t, err, want)
}
