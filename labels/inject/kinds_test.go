package inject

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
)

// topicSet makes n bags of five captions. Bag i has one of 12 topics, whose two words its captions mention next to a
// word that all bags have. Bag 3 has no caption and bag 4 has two.
func topicSet(t testing.TB, n int) *loader.Set {
	t.Helper()
	words := []string{"photo"}
	for topic := range 12 {
		words = append(words, fmt.Sprintf("noun%c", 'a'+topic), fmt.Sprintf("other%c", 'a'+topic))
	}
	ids, captions := make([]string, n), make([][]string, n)
	for i := range ids {
		ids[i] = fmt.Sprint("bag", i)
		for c := range 5 {
			captions[i] = append(captions[i], "photo "+words[1+topicOf(i)*2+c%2])
		}
	}
	captions[3], captions[4] = nil, captions[4][:2]
	return expect.Value(loader.NewCaptionSet("topics", ids, captions, 5, vocabularyOf(t, words...)))(t)
}

func topicOf(bag int) int { return bag * 7 % 12 }

// sameTopic returns the share of replacements by a bag of the same topic.
func sameTopic(noise *Injection) float64 {
	same, all := 0., 0.
	for _, change := range noise.Changes {
		for _, r := range change.Captions {
			all++
			if topicOf(r.Donor) == topicOf(change.Bag) {
				same++
			}
		}
	}
	return same / all
}

// replacedShares returns the share of replaced captions of each bag with five captions.
func replacedShares(s *loader.Set, noise *Injection) []float64 {
	counts := make([]int, s.Len())
	for _, change := range noise.Changes {
		counts[change.Bag] = len(change.Captions)
	}
	var shares []float64
	for bag, n := range counts {
		if len(s.Captions[bag]) == 5 {
			shares = append(shares, float64(n)/5)
		}
	}
	return shares
}

func meanOf(values []float64) float64 {
	sum := 0.
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func TestUneven_SharesDifferByBagAroundTheirMean(t *testing.T) {
	s := topicSet(t, 4000)
	for _, share := range []float64{.1, .37, .8, 1} { // no multiples of a fifth are needed
		shares := replacedShares(s, mustDraw(t, s, Uneven, share, 3))
		none, all, square := 0., 0., 0.
		for _, v := range shares {
			if v == 0 {
				none++
			}
			if v == 1 {
				all++
			}
			square += (v - share) * (v - share)
		}
		// The variance of k/5 for k from Binomial(5, p), p from Beta(share, 1-share), is .6 share (1-share).
		n := float64(len(shares))
		variance := .6 * share * (1 - share)
		if mean := meanOf(shares); math.Abs(mean-share) > 5*math.Sqrt(variance/n)+1e-9 ||
			math.Abs(square/n-variance) > .02 {
			t.Errorf("share %g: mean %.4f, variance %.4f, want %.4f", share, mean, square/n, variance)
		}
		if binomial := math.Pow(1-share, 5); share < 1 && none/n < 1.2*binomial {
			t.Errorf("share %g: %.3f of the bags keep all captions, no more than the %.3f of equal shares", share,
				none/n, binomial)
		}
		if share == 1 && all != n {
			t.Errorf("share 1 leaves own captions in %g of %g bags", n-all, n)
		}
	}
	if same := sameTopic(mustDraw(t, s, Uneven, .4, 3)); math.Abs(same-1./12) > .02 {
		t.Errorf("%.3f of the donors have the topic of the bag, want one of 12", same)
	}
}

// Bags of a topic mention the same words, so their shares lie close together. Over all bags, the shares are
// as in uneven noise.
func TestContent_SharesFollowTheWordsOfTheBag(t *testing.T) {
	s := topicSet(t, 4000)
	spread := func(kind Kind) (mean, between float64) {
		noise := mustDraw(t, s, kind, .4, 3)
		var sums, bags [12]float64
		for bag, captions := range s.Captions {
			bags[topicOf(bag)] += float64(len(captions))
		}
		for _, change := range noise.Changes {
			sums[topicOf(change.Bag)] += float64(len(change.Captions))
		}
		for topic := range sums {
			between += math.Pow(sums[topic]/bags[topic]-.4, 2) / 12
		}
		return meanOf(replacedShares(s, noise)), between
	}
	uneven, chance := spread(Uneven)
	mean, between := spread(Content)
	if math.Abs(mean-uneven) > .01 || between < .1 || chance > .002 {
		t.Errorf("shares of %.3f and %.3f, variances between topics %.4f and %.4f", mean, uneven, between, chance)
	}
}

func TestSimilar_TakesCaptionsOfSimilarBags(t *testing.T) {
	s := topicSet(t, 600)
	noise := mustDraw(t, s, Similar, .4, 5)
	for _, change := range noise.Changes {
		if want := min(2, len(s.Captions[change.Bag])); len(change.Captions) != want {
			t.Fatalf("bag %d has %d captions replaced, want %d", change.Bag, len(change.Captions), want)
		}
	}
	if similar, uniform := sameTopic(noise), sameTopic(mustDraw(t, s, Uniform, .4, 5)); similar < .98 || uniform > .12 {
		t.Errorf("%.3f of the donors have the topic of the bag, and %.3f of random ones", similar, uniform)
	}
}

// Words that all bags have count nothing, and rare words more than frequent ones.
func TestSimilarity_WeighsRareWords(t *testing.T) {
	captions := [][]string{{"photo dog", "red"}, {"photo dog"}, {"photo red"}, {"photo cat red"}, {"photo"}, {"photo red"}}
	s, err := loader.NewCaptionSet("s", []string{"1", "2", "3", "4", "5", "6"}, captions, 5,
		vocabularyOf(t, "photo", "dog", "cat", "red"))
	expect.OK(t, err)
	m := newSimilarity(s)
	dog, red := math.Log(6./2), math.Log(6./4)
	if got, want := m.of(0, 1), dog/math.Hypot(dog, red); math.Abs(got-want) > 1e-12 {
		t.Errorf("similarity %g, want %g", got, want)
	}
	if m.of(0, 1) <= m.of(0, 2) || m.of(0, 4) != 0 || m.of(1, 3) != 0 || math.Abs(m.of(2, 5)-1) > 1e-12 {
		t.Errorf("similarities %g, %g, %g, %g, %g", m.of(0, 1), m.of(0, 2), m.of(0, 4), m.of(1, 3), m.of(2, 5))
	}
}

func TestPair_TakesDifferentCaptionsOfOneBag(t *testing.T) {
	s := topicSet(t, 600)
	donors := map[int]bool{}
	for _, change := range mustDraw(t, s, Pair, .6, 5).Changes {
		if want := min(3, len(s.Captions[change.Bag])); len(change.Captions) != want {
			t.Fatalf("bag %d has %d captions replaced, want %d", change.Bag, len(change.Captions), want)
		}
		given := map[int]bool{}
		donor := change.Captions[0].Donor
		for _, r := range change.Captions {
			if r.Donor != donor || r.Donor == change.Bag {
				t.Fatalf("bag %d: %+v, want one other donor", change.Bag, change.Captions)
			}
			given[r.DonorSlot] = true
		}
		donors[donor] = true
		if want := min(len(change.Captions), len(s.Captions[donor])); len(given) != want {
			t.Fatalf("bag %d has %d different captions of bag %d, want %d", change.Bag, len(given), donor, want)
		}
	}
	if len(donors) < 300 { // 599 draws from 599 bags give about 379
		t.Errorf("only %d bags gave captions", len(donors))
	}
}

func TestShift_MovesAllCaptionsOfTheNextBag(t *testing.T) {
	s := topicSet(t, 3000)
	noise := mustDraw(t, s, Shift, .37, 5)
	if got := float64(len(noise.Changes)) / 2999; math.Abs(got-.37) > 5*math.Sqrt(.37*.63/2999) {
		t.Errorf("%.4f of the bags changed, want .37", got)
	}
	all := mustDraw(t, s, Shift, 1, 5).Changes
	if len(all) != 2999 {
		t.Fatalf("%d bags changed, want all 2999 with captions", len(all))
	}
	for i, change := range all {
		next := all[(i+1)%len(all)].Bag
		if len(change.Captions) != len(s.Captions[change.Bag]) {
			t.Fatalf("bag %d keeps captions of its own", change.Bag)
		}
		for slot, r := range change.Captions {
			if want := (Replacement{slot, next, slot % len(s.Captions[next])}); r != want {
				t.Fatalf("bag %d: %+v, want %+v", change.Bag, r, want)
			}
		}
	}
	if !slices.ContainsFunc(all, func(c BagChanges) bool { return c.Bag == 2 && c.Captions[2] == Replacement{2, 4, 0} }) {
		t.Error("the captions of bag 4 do not repeat in bag 2")
	}
}

func TestKinds_DependOnTheSeedAloneAndReadBack(t *testing.T) {
	s := topicSet(t, 200)
	for _, kind := range CaptionKinds() {
		noise := mustDraw(t, s, kind, .6, 11)
		if again := mustDraw(t, s, kind, .6, 11); !reflect.DeepEqual(again, noise) {
			t.Errorf("%s: the same seed draws other noise", kind)
		}
		if other := mustDraw(t, s, kind, .6, 12); reflect.DeepEqual(other.Changes, noise.Changes) {
			t.Errorf("%s: another seed draws the same noise", kind)
		}
		written := noiseText(t, noise)
		if named := strings.Contains(written, `"drawn":"`+string(kind)+`"`); named != (kind != Uniform) {
			t.Errorf("%s: the first line is %.200s", kind, written)
		}
		got, err := parse("n.jsonl", strings.NewReader(written), s)
		if err != nil || !reflect.DeepEqual(got, noise) {
			t.Errorf("%s: %v, read back\n%+v\nwant\n%+v", kind, err, got, noise)
		}
		mustApply(t, noise, s)
	}
	written := noiseText(t, mustDraw(t, s, Uneven, .3, 1))
	for from, want := range map[string]string{
		`"drawn":"uneven"`: `unknown way "odd", want uniform, uneven, content, similar, pair or shift`,
		`"share":0.3`:      "a share of 7 of the captions",
	} {
		to := map[string]string{`"drawn":"uneven"`: `"drawn":"odd"`, `"share":0.3`: `"share":7`}[from]
		if _, err := parse("n.jsonl", strings.NewReader(strings.Replace(written, from, to, 1)), s); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// Noise files of earlier versions name no kind and mean Uniform. Their first line is still written for it.
func TestUniform_FileIsThatOfEarlierVersions(t *testing.T) {
	s := captionSet(t, 4, 3)
	const first = `{"format":"nmn-noise","version":1,"kind":"captions","seed":"11","replaced":2,"set":"pattern","samples":4,` +
		`"classes":6,"captions_per_sample":3,"fingerprint":"`
	noise := mustReplace(t, s, 2, 11)
	written := noiseText(t, noise)
	if !strings.HasPrefix(written, first) {
		t.Errorf("the first line is %.300s", written)
	}
	if got, err := parse("n.jsonl", strings.NewReader(written), s); err != nil || got.Kind != Uniform || got.Share != 2./3 {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestWithReplacedCaptions_RefusesKindsThatCompareAllBags(t *testing.T) {
	for _, kind := range []Kind{Similar, Content} {
		if _, err := WithReplacedCaptions(t.Context(), raggedStream(t), kind, .2, 1); err == nil ||
			!strings.Contains(err.Error(), "raise `run.label_memory`") {
			t.Errorf("%s: error %v", kind, err)
		}
	}
}
