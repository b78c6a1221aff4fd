package train

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/model"
)

// ragged is a net with every option, and bags of one or two frames, in batches with recurring shapes. The
// last batch is smaller.
func ragged(t testing.TB, device func(testing.TB) kernels.Backend) (*model.Net, *loader.Set, loader.Config) {
	t.Helper()
	r := newRig()
	r.source = func(s loader.Source) loader.Source { return films{s} }
	r.mil, r.noise, r.bags, r.device = true, model.FeatureDependent, 38, device
	o := r.options(t)
	for _, p := range o.Net.Params() { // nothing is 0, nor the same for all bags
		values, err := o.Net.Values(p)
		check(t, err)
		for i := range values {
			values[i] += .05 * float32(math.Sin(float64(3*i+len(p.Name))))
		}
		check(t, o.Net.SetValues(p, values))
	}
	o.Loader.BatchSize = 4
	return o.Net, o.Data, o.Loader
}

// layersOfRagged are extracted in the tests.
var layersOfRagged = []model.Layer{model.Pool5, model.FC7, model.Probabilities}

// plainly scores a set with each batch uploaded, computed and downloaded before the next. It returns the
// scores, the rates of each bag, and the rows of layers.
func plainly(t *testing.T, net *model.Net, set *loader.Set, config loader.Config) (of [][]float32) {
	t.Helper()
	config.Size, config.Shuffle, config.Flip = net.Config().Size, false, false
	l, err := loader.New(set, config)
	check(t, err)
	epoch, err := l.Epoch(t.Context(), 0, 0)
	check(t, err)
	defer epoch.Close()
	of = make([][]float32, 4+len(layersOfRagged))
	for {
		batch, err := epoch.Next(t.Context())
		if err == io.EOF {
			return of
		}
		check(t, err)
		plan, err := forward(net, batch)
		check(t, err)
		results := []*tensor.Tensor{plan.BagLogit, plan.Prob, plan.Observed, plan.Confidence}
		for _, layer := range layersOfRagged {
			width, err := net.Config().LayerWidth(layer)
			check(t, err)
			room, err := net.Backend().Alloc(tensor.Float32, batch.N, width)
			check(t, err)
			rows, err := net.Extract(room, plan, layer)
			check(t, err)
			results = append(results, rows)
		}
		for i, result := range results {
			host := make([]float32, result.Len())
			check(t, net.Backend().Download(hostOver(host), result))
			of[i] = append(of[i], host...)
		}
		batch.Release()
	}
}

// forward brings a batch through a net by itself, without dropout.
func forward(net *model.Net, batch *loader.Batch) (*model.Plan, error) {
	plan, err := net.Plan(batch.T, batch.N, false)
	if err != nil {
		return nil, err
	}
	f := &feed{backend: net.Backend(), scoring: true}
	return plan, cmp.Or(f.upload(plan, batch), net.Normalize(plan), net.Forward(plan, false))
}

// asUsers returns the results of plainly by the package's public functions.
func asUsers(t *testing.T, net *model.Net, set *loader.Set, config loader.Config) (of [][]float32) {
	t.Helper()
	scores, err := Score(t.Context(), net, set, config)
	if err != nil {
		t.Error(err)
		return nil
	}
	of = append(of, scores.Logits.Float32s(), scores.Prob.Float32s(), scores.Observed.Float32s(), nil)
	var each, of01, of10 []float32
	_, err = EachScore(t.Context(), nil, net, set, config, func(_ int, logits, q01, q10 []float32) {
		each, of01, of10 = append(each, logits...), append(of01, q01...), append(of10, q10...)
	})
	check(t, err)
	if !slices.Equal(each, of[0]) {
		t.Error("EachScore differs from Score")
	}
	of[3] = slices.Concat(of01, of10)
	rows := make([][]float32, len(layersOfRagged))
	bags := 0
	_, err = Extract(t.Context(), net, set, config, layersOfRagged, func(bag int, of [][]float32) error {
		if bag != bags {
			t.Errorf("bag %d comes in place %d", bag, bags)
		}
		bags++
		for i, row := range of {
			rows[i] = append(rows[i], row...)
		}
		return nil
	})
	check(t, err)
	return append(of, rows...)
}

// ratesOf turns confidence maps into rates, all q01 before all q10.
func ratesOf(t *testing.T, net *model.Net, confidence []float32) []float32 {
	t.Helper()
	var of01, of10 []float32
	check(t, bagRates(confidence, net.Config().Classes, func(q01, q10 []float32) {
		of01, of10 = append(of01, q01...), append(of10, q10...)
	}))
	return slices.Concat(of01, of10)
}

func TestInOrder_EqualsTheForwardPassOfEachBatchBitForBit(t *testing.T) {
	net, set, config := ragged(t, nil)
	want := plainly(t, net, set, config)
	want[3] = ratesOf(t, net, want[3])
	for i, got := range asUsers(t, net, set, config) {
		if !slices.Equal(got, want[i]) || len(got) == 0 {
			t.Errorf("result %d of %d numbers differs from that of a plain pass, of %d", i, len(got), len(want[i]))
		}
	}
}

// interrupt ends a context when a number of bags have been shown, and returns how many were.
func interrupt(t *testing.T, net *model.Net, set *loader.Set, config loader.Config, after int) (shown int, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = ScoreTogether(ctx, nil, net, set, config, func(bags int) {
		if shown += bags; shown >= after {
			cancel()
		}
	})
	return shown, err
}

// Batches that memory cannot hold, and whatever else the loader refuses, are errors.
func TestScore_WhatTheLoaderRefuses(t *testing.T) {
	net, set, config := ragged(t, nil)
	config.Workers = -1
	if s, err := Score(t.Context(), net, set, config); s != nil || err == nil {
		t.Errorf("%v, %v", s, err)
	}
}

func TestInOrder_EndsWithItsContext(t *testing.T) {
	net, set, config := ragged(t, nil)
	shown, err := interrupt(t, net, set, config, 8)
	if !errors.Is(err, context.Canceled) || shown != 8 {
		t.Errorf("%d bags were scored: %v, want the 8 before the end of the context", shown, err)
	}
}
