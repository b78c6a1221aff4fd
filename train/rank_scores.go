package train

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nmn/loader"
	"nmn/model"
	"nmn/ranks"
)

// Ranks score a set together. Each takes consecutive batches, and one gathering at the end exchanges the
// scores. A rank that has finished waits for the others.

// wholeBatches is how this rank reads its part of a set. Bags that cannot be read are counted over all ranks
// (gatherBad).
func wholeBatches(g ranks.Group, config loader.Config) loader.Config {
	if g.Size() > 1 {
		config.MaxBadSamples = math.MaxInt32
	}
	config.Share = loader.Share{Rank: g.Rank(), Ranks: g.Size(), Whole: true}
	return config
}

// toldBad is a bag that a rank could not read, and why.
type toldBad struct {
	Bag      int
	ID, Text string
}

// The message of a rank about its pass.
type told struct {
	Bags int
	Bad  []toldBad
}

// gatherBad returns the bags that the ranks could not read in their parts of a pass. It is an error if they
// are too many, or if no bag of the set can be read. failure is the error of this rank, and becomes an error
// on all.
func gatherBad(g ranks.Group, set *loader.Set, config loader.Config, bags int, bad []loader.BadSample,
	failure error) ([]loader.BadSample, error) {
	if g.Size() == 1 {
		return bad, cmp.Or(failure, noneLeft(set, bags, bad))
	}
	own := told{Bags: bags}
	for _, b := range bad {
		own.Bad = append(own.Bad, toldBad{b.Bag, b.ID, b.Err.Error()})
	}
	all, err := ranks.Every(g, own, failure)
	if err != nil {
		return nil, err
	}
	bad, bags = nil, 0
	for _, theirs := range all {
		bags += theirs.Bags
		for _, b := range theirs.Bad {
			bad = append(bad, loader.BadSample{Bag: b.Bag, ID: b.ID, Err: badThere(b.Text)})
		}
	}
	if len(bad) > config.MaxBadSamples {
		return nil, loader.TooManyBad(set, bad[:config.MaxBadSamples+1], config.MaxBadSamples)
	}
	return bad, noneLeft(set, bags, bad)
}

// scoredRows are rows of a rank.
type scoredRows struct {
	Index []int
	Rows  [][]float32 // as collected
	Rates []float32   // of rateMean
}

// gather replaces the rows from the given one on, which only this rank has, by the rows of all ranks in the
// order of the ranks. If order is not nil, it puts the rows into its order.
func (s *scorer) gather(g ranks.Group, from int, order func(bag int) int) error {
	if g.Size() == 1 {
		return nil
	}
	own := scoredRows{Index: s.index[from:], Rates: s.rates.each}
	for _, rows := range s.collected() {
		own.Rows = append(own.Rows, rows[from*s.classes:len(s.index)*s.classes])
	}
	all, err := ranks.Every(g, own, nil)
	if err != nil {
		return err
	}
	s.index, s.rates = s.index[:from], newRateMean(s.classes, true)
	type place struct{ rank, row, bag int }
	var places []place
	for rank, theirs := range all {
		for row, bag := range theirs.Index {
			places = append(places, place{rank, row, bag})
		}
	}
	if order != nil {
		slices.SortFunc(places, func(a, b place) int { return cmp.Compare(order(a.bag), order(b.bag)) })
	}
	for _, p := range places {
		if err := s.join(p.bag, p.row, all[p.rank].Rows); err != nil {
			return err
		}
	}
	for _, theirs := range all {
		s.joinRates(theirs.Rates)
	}
	return nil
}

// join adds one of several rows of a bag. If two ranks scored frames of one video, the video gets the
// maximum.
func (s *scorer) join(bag, row int, rows [][]float32) error {
	k, at := s.classes, len(s.index)-1
	again := s.videos != nil && at >= 0 && s.index[at] == bag
	if !again {
		if at++; at >= s.capacity {
			return fmt.Errorf("training: the ranks have scored more than the %d samples of the set", s.capacity)
		}
		s.index = append(s.index, bag)
	}
	for i, all := range s.collected() {
		for c, v := range rows[i][row*k : (row+1)*k] {
			if to := &all[at*k+c]; !again || v > *to {
				*to = v
			}
		}
	}
	return nil
}

// joinRates adds the rates of a rank's bags. A feature-independent noise model has equal rates for all bags.
func (s *scorer) joinRates(each []float32) {
	for k := s.classes; len(each) > 0; each = each[2*k:] {
		if s.rates.bags == 0 || s.net.Config().Noise != model.FeatureIndependent {
			s.rates.take(each[:k], each[k:2*k])
		}
	}
}
