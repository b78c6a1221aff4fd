package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing"

	"nmn/group"
	"nmn/loader"
	"nmn/model"
)

// dealt is the part of a batch and its results whose bags a rank has, and no more than that.
func dealt(batch *loader.Batch, values [][]float32, eachRates bool, mine func(i, bag int) bool) (part *loader.Batch,
	of [][]float32) {
	part = &loader.Batch{Number: batch.Number}
	of = make([][]float32, len(values))
	for i, bag := range batch.Index {
		if !mine(i, bag) {
			continue
		}
		part.N++
		part.Index, part.IDs = append(part.Index, bag), append(part.IDs, batch.IDs[i])
		for j, v := range values {
			if j > 0 && !eachRates {
				of[j] = v
				continue
			}
			width := len(v) / batch.N
			of[j] = append(of[j], v[i*width:(i+1)*width]...)
		}
	}
	return part, of
}

// Whoever has scored which bags of a batch, every rank has the scores of one process, in the order of the epoch.
func TestOnlineParts_AreJoinedInTheOrderOfTheEpoch(t *testing.T) {
	for _, noise := range []model.NoiseMode{model.NoNoise, model.FeatureIndependent, model.FeatureDependent} {
		r := newRig()
		r.noise, r.bags = noise, 38
		o := r.options(t)
		o.Data.Source = spoilt{o.Data.Source}
		o.Loader.MaxBadSamples = 38
		trainer := newTrainer(t, o)
		trainer.online = trainer.newOnline()
		epoch, err := trainer.loader.Epoch(t.Context(), 1, 0)
		check(t, err)
		defer epoch.Close()
		for {
			batch, err := epoch.Next(t.Context())
			if err == io.EOF {
				break
			}
			check(t, err)
			values, err := trainer.scoreNow(batch)
			check(t, err)
			checkJoined(t, trainer, batch, values)
		}
	}
}

func checkJoined(t *testing.T, trainer *Trainer, batch *loader.Batch, values [][]float32) {
	t.Helper()
	each := trainer.Net.Config().Noise == model.FeatureDependent
	for n := 2; n <= 4; n++ {
		for rank, err := range scoreOnRanks(t, n, func(g group.Group) error {
			p := &onlineParts{exchange: exchange{group: g}, order: trainer.loader.Order(1),
				batches: trainer.loader.Batches(), eachRates: each}
			for _, mine := range []func(i, bag int) bool{
				func(i, _ int) bool { return i%n == g.Rank() },
				func(_, bag int) bool { return bag*bag%7%n == g.Rank() },
				func(int, int) bool { return g.Rank() == n-1 }, // the others have none
			} {
				part, of := dealt(batch, values, each, mine)
				if part.N == 0 {
					of = nil
				}
				got, all, err := p.join(part, of, nil)
				if err != nil {
					return err
				}
				if got.N != batch.N || got.Number != batch.Number || !slices.Equal(got.Index, batch.Index) ||
					!slices.Equal(got.IDs, batch.IDs) || !reflect.DeepEqual(all, values) {
					return fmt.Errorf("batch %d: bags %v, want %v, or other scores", batch.Number, got.Index, batch.Index)
				}
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, n, err)
			}
		}
	}
}

func TestOnlineParts_AnErrorOfOneRankEndsAll(t *testing.T) {
	trainer := newRig().trainer(t)
	broken := errors.New("the card is lost")
	ended(t, "scores", 1, scoreOnRanks(t, 3, func(g group.Group) error {
		p := &onlineParts{exchange: exchange{group: g}, order: trainer.loader.Order(1), batches: trainer.loader.Batches()}
		var failure error
		if g.Rank() == 1 {
			failure = broken
		}
		_, _, err := p.join(&loader.Batch{Number: 1}, nil, failure)
		return err
	}), broken)
}

// The parts are those that the loader deals, some of which are empty.
func TestOnlineParts_OfTheSharesOfALoader(t *testing.T) {
	r := newRig()
	r.source = func(s loader.Source) loader.Source { return spoilt{films{s}} }
	r.mil, r.noise, r.bags = true, model.FeatureDependent, 21
	r.config.BatchBagsMIL = 5
	trainers := make([]*Trainer, 4)
	for i := range trainers {
		o := r.options(t)
		o.Loader.MaxBadSamples = 21
		trainers[i] = newTrainer(t, o)
		trainers[i].online = trainers[i].newOnline()
	}
	want, err := scoredEpoch(trainers[0], group.Alone{})
	check(t, err)
	for n := 2; n <= 4; n++ {
		for rank, err := range scoreOnRanks(t, n, func(g group.Group) error {
			got, err := scoredEpoch(trainers[g.Rank()], g)
			if err == nil && !reflect.DeepEqual(got, want) {
				err = errors.New("other scores than one process")
			}
			return err
		}) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, n, err)
			}
		}
	}
}

// scoredEpoch are the online scores of an epoch in which nothing is learned.
func scoredEpoch(trainer *Trainer, g group.Group) (all []any, err error) {
	config := trainer.loaderConfig()
	config.Share = loader.Share{Rank: g.Rank(), Ranks: g.Size()}
	l, err := loader.New(trainer.Data, config)
	if err != nil {
		return nil, err
	}
	epoch, err := l.Epoch(context.Background(), 1, 0)
	if err != nil {
		return nil, err
	}
	defer epoch.Close()
	p := &onlineParts{exchange: exchange{group: g}, order: l.Order(1), batches: l.Batches(), eachRates: true}
	for {
		batch, err := epoch.Next(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		var values [][]float32
		if batch.N > 0 {
			if values, err = trainer.scoreNow(batch); err != nil {
				return nil, err
			}
		}
		if g.Size() > 1 {
			if batch, values, err = p.join(batch, values, nil); err != nil {
				return nil, err
			}
		}
		if batch.N > 0 {
			all = append(all, batch.Number, slices.Clone(batch.Index), slices.Clone(batch.IDs),
				slices.Clone(values[0]), slices.Clone(values[1]))
		}
	}
	return all, nil
}
