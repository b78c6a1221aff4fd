package inject

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"nmn/internal/parallel"
	"nmn/internal/rng"
	"nmn/internal/setting"
	"nmn/loader"
)

// ReplaceCaptions draws which captions of the bags are replaced by captions of other bags. Bag i draws from the
// stream (seed, i) alone.
//
// For Uniform, Similar and Pair, share is the share of each bag's captions, and must be a whole number n of them.
// With 5 captions per bag, n = 1, 2, 3, 4 give the 20, 40, 60 and 80 % cases of the paper. A bag with fewer than n
// captions has all of them replaced. For Uneven, Content and Shift, share is above 0 and at most 1.
func ReplaceCaptions(s *loader.Set, kind Kind, share float64, seed uint64) (*Injection, error) {
	if s.Captions == nil {
		return nil, fmt.Errorf(
			"%s: captions cannot be replaced: the labels do not come from captions; flip labels instead", s.Name)
	}
	draw, err := newReplacementDraw(s, kind, share, seed)
	if err != nil {
		return nil, err
	}
	noise, err := newInjection(s, kind, seed)
	if err != nil {
		return nil, err
	}
	noise.Share = share
	if kind.whole() {
		noise.Share = float64(draw.n) / float64(s.CaptionsPerSample)
	}
	from := donors{bags: s.Len()}
	for i, captions := range s.Captions {
		if len(captions) == 0 {
			from.without = append(from.without, i)
		}
	}
	if err := from.check(s); err != nil {
		return nil, err
	}
	draw.donors, draw.captions = &from, func(bag int) (int, error) { return len(s.Captions[bag]), nil }
	switch kind {
	case Similar:
		draw.similarity = newSimilarity(s)
	case Content:
		draw.chances = draw.byContent(s)
	}
	noise.Changes = make([]BagChanges, from.len())
	parallel.Each(from.len(), func(rank int) {
		bag := from.at(rank)
		noise.Changes[rank], _ = draw.of(bag, len(s.Captions[bag])) // captions in memory can be counted
	})
	noise.Changes = slices.DeleteFunc(noise.Changes, func(c BagChanges) bool { return len(c.Captions) == 0 })
	return noise, nil
}

// captionStream names the random stream of replaced captions.
const captionStream = "noise/captions"

// candidates is the number of bags that Similar draws for each caption.
const candidates = 60

// replacementDraw draws what becomes of the captions of bags.
type replacementDraw struct {
	kind       Kind
	n          int     // captions of each bag, if kind.whole()
	share      float64 // otherwise
	key        uint64
	donors     *donors
	similarity *similarity                // Similar
	chances    []float64                  // Content: that a caption of the bag of a rank is replaced
	captions   func(bag int) (int, error) // number of captions of a donor; called once for each replacement, in order
}

// newReplacementDraw checks the kind and the share.
func newReplacementDraw(s *loader.Set, kind Kind, share float64, seed uint64) (*replacementDraw, error) {
	d := &replacementDraw{kind: kind, share: share, key: rng.Derive(seed, captionStream)}
	switch {
	case !kind.replaces():
		return nil, fmt.Errorf("%s: captions cannot be replaced by noise of the kind %q, want %s", s.Name, kind,
			setting.Alternatives(CaptionKinds()))
	case kind.whole():
		var err error
		d.n, err = captionsForShare(s, share)
		return d, err
	case !(share > 0 && share <= 1):
		return nil, fmt.Errorf("%s: a share of %g cannot be replaced; allowed are shares above 0 and at most 1", s.Name,
			share)
	}
	return d, nil
}

// of draws the changes of a bag with the given number of own captions, at least 1.
func (d *replacementDraw) of(bag, own int) (BagChanges, error) {
	stream := rng.New(d.key, bag)
	draw := d.uniform
	switch d.kind {
	case Uneven, Content:
		draw = d.uneven
	case Similar:
		draw = d.similar
	case Pair:
		draw = d.pair
	case Shift:
		draw = d.shift
	}
	captions, err := draw(&stream, bag, own)
	return BagChanges{Bag: bag, Captions: captions}, err
}

// uniform replaces n captions, each by a random caption of a random bag.
func (d *replacementDraw) uniform(stream *rng.Stream, bag, own int) ([]Replacement, error) {
	return d.replace(stream, d.slots(stream, own), func() int { return d.other(stream, bag) })
}

// uneven replaces each caption with a probability that it draws for the bag, or that the bag has by its content.
func (d *replacementDraw) uneven(stream *rng.Stream, bag, own int) ([]Replacement, error) {
	p := betaOfMean(stream, d.share)
	if d.chances != nil {
		p = d.chances[d.donors.rank(bag)]
	}
	var slots []int
	for slot := range own {
		if stream.Float64() < p {
			slots = append(slots, slot)
		}
	}
	return d.replace(stream, slots, func() int { return d.other(stream, bag) })
}

// byContent gives the probabilities that uneven draws to the bags in the order of a sum over the words that their
// captions mention. Each word has a random weight. So a net can see in a bag how noisy its labels are.
func (d *replacementDraw) byContent(s *loader.Set) []float64 {
	weights, stream := make([]float64, s.Vocabulary.Len()), rng.New(rng.Derive(d.key, "content"))
	for word := range weights {
		weights[word] = stream.Normal(0, 1)
	}
	n := d.donors.len()
	order, sums, drawn, chances := ascending(n), make([]float64, n), make([]float64, n), make([]float64, n)
	for rank := range n {
		bag := d.donors.at(rank)
		for _, word := range mentioned(s.Captions[bag]) {
			sums[rank] += weights[word]
		}
		own := rng.New(d.key, bag)
		drawn[rank] = betaOfMean(&own, d.share)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sums[a], sums[b]) })
	slices.Sort(drawn)
	for at, rank := range order {
		chances[rank] = drawn[at]
	}
	return chances
}

// similar replaces n captions, each by a random caption of the most similar of some random bags.
func (d *replacementDraw) similar(stream *rng.Stream, bag, own int) ([]Replacement, error) {
	return d.replace(stream, d.slots(stream, own), func() int {
		best, most := 0, math.Inf(-1)
		for range candidates {
			other := d.other(stream, bag)
			if c := d.similarity.of(bag, other); c > most {
				best, most = other, c
			}
		}
		return best
	})
}

// pair replaces n captions by different captions of one random bag. They repeat if it has fewer than n.
func (d *replacementDraw) pair(stream *rng.Stream, bag, own int) ([]Replacement, error) {
	slots, donor := d.slots(stream, own), d.other(stream, bag)
	given, err := d.captions(donor)
	if err != nil {
		return nil, err
	}
	return inTurn(slots, donor, shuffled(stream, given)), nil
}

// shift replaces, with probability share, all captions by the captions of the next bag. They repeat if it has fewer.
func (d *replacementDraw) shift(stream *rng.Stream, bag, own int) ([]Replacement, error) {
	if stream.Float64() >= d.share {
		return nil, nil
	}
	donor := d.donors.at((d.donors.rank(bag) + 1) % d.donors.len())
	given, err := d.captions(donor)
	if err != nil {
		return nil, err
	}
	return inTurn(ascending(own), donor, ascending(given)), nil
}

// replace gives each slot a random caption of a donor.
func (d *replacementDraw) replace(stream *rng.Stream, slots []int, donor func() int) ([]Replacement, error) {
	all := make([]Replacement, len(slots))
	for i, slot := range slots {
		from := donor()
		given, err := d.captions(from)
		if err != nil {
			return nil, err
		}
		all[i] = Replacement{Slot: slot, Donor: from, DonorSlot: stream.Intn(given)}
	}
	return all, nil
}

// inTurn gives each slot the next caption of a donor.
func inTurn(slots []int, donor int, given []int) []Replacement {
	all := make([]Replacement, len(slots))
	for i, slot := range slots {
		all[i] = Replacement{Slot: slot, Donor: donor, DonorSlot: given[i%len(given)]}
	}
	return all
}

// slots draws n of the captions of a bag, or all if it has fewer.
func (d *replacementDraw) slots(stream *rng.Stream, own int) []int {
	slots := shuffled(stream, own)[:min(d.n, own)]
	slices.Sort(slots)
	return slots
}

// other draws another bag with captions. All are equally likely.
func (d *replacementDraw) other(stream *rng.Stream, bag int) int {
	other := stream.Intn(d.donors.len() - 1)
	if other >= d.donors.rank(bag) {
		other++
	}
	return d.donors.at(other)
}

func ascending(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func shuffled(stream *rng.Stream, n int) []int {
	all := ascending(n)
	stream.Shuffle(all)
	return all
}

// betaOfMean draws from Beta(mean, 1-mean), for a mean above 0 and at most 1 (Jöhnk, 1964: the ratio x/(x+y) of
// x = u^(1/a) and y = v^(1/b), given that x+y is at most 1).
func betaOfMean(stream *rng.Stream, mean float64) float64 {
	for {
		x, y := math.Pow(stream.Float64(), 1/mean), math.Pow(stream.Float64(), 1/(1-mean))
		if sum := x + y; sum > 0 && sum <= 1 {
			return x / sum
		}
	}
}

// captionsForShare returns how many of the captions of a bag make a share, for example 2 of 5
// for .4. A share between two numbers of captions is an error that names the possible ones.
func captionsForShare(s *loader.Set, share float64) (int, error) {
	exact := share * float64(s.CaptionsPerSample)
	n := int(math.Round(exact))
	if !(math.Abs(exact-float64(n)) < 1e-6) || n < 1 || n > s.CaptionsPerSample {
		return 0, fmt.Errorf("%s: a share of %g is not a whole number of its %d captions per sample; possible are "+
			"multiples of %.4g up to 1",
			s.Name, share, s.CaptionsPerSample, 1/float64(max(s.CaptionsPerSample, 1)))
	}
	return n, nil
}
