package misplaced

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"

	"nmn/internal/rng"
)

// repeated simulates bags with from to upTo captions in which one word holds, an urn for each: after every
// caption that mentions the word the next ones are likelier to. It returns the expected share of bags without
// a mention.
func repeated(seed uint64, bags, from, upTo int, mean, spread float64) (captions [][][]int32, unsaid float64) {
	size := (1 - spread) / spread
	for n := range bags {
		s := rng.New(seed, n)
		of := make([][]int32, from+s.Intn(upTo-from+1))
		said, none := 0.0, 1.0
		for c := range of {
			none *= ((1-mean)*size + float64(c)) / (size + float64(c))
			if s.Float64() < (mean*size+said)/(size+float64(c)) {
				of[c] = []int32{0}
				said++
			}
		}
		captions, unsaid = append(captions, of), unsaid+none/float64(bags)
	}
	return captions, unsaid
}

func unsaidOf(t *testing.T, captions [][][]int32, classes int) []float64 {
	t.Helper()
	u, err := Unsaid(t.Context(), captions, classes)
	check(t, err)
	if len(u) != classes {
		t.Fatalf("%d classes have %d rates", classes, len(u))
	}
	return u
}

// The bags with a mention determine how often a word that holds is not mentioned.
func TestUnsaid_IsTheRateOfTheSimulation(t *testing.T) {
	for _, test := range []struct {
		from, upTo   int
		mean, spread float64
		within       float64
	}{
		{1, 20, .1, .1, .05}, {1, 20, .3, .2, .03}, {1, 20, .5, .4, .05}, {1, 20, .8, .1, .01},
		{5, 5, .2, .05, .05}, {5, 5, .5, .1, .02}, {5, 5, .4, .3, .06}, {2, 3, .6, .2, .06},
	} {
		captions, want := repeated(5, 20000, test.from, test.upTo, test.mean, test.spread)
		got := unsaidOf(t, captions, 1)[0]
		t.Logf("%d to %d captions, mean %g, spread %g: %.4f, in truth %.4f", test.from, test.upTo, test.mean, test.spread,
			got, want)
		if !(math.Abs(got-want) < test.within) {
			t.Errorf("%+v: nobody says it with %.4f, want %.4f", test, got, want)
		}
	}
}

// Bags for which a word does not hold, and which never mention it, change nothing.
func TestUnsaid_DoesNotDependOnBagsWithoutTheWord(t *testing.T) {
	captions, _ := repeated(6, 1000, 5, 5, .4, .2)
	want := unsaidOf(t, captions, 1)[0]
	for range 500 {
		captions = append(captions, make([][]int32, 20), nil)
	}
	if got := unsaidOf(t, captions, 1)[0]; got != want {
		t.Errorf("with 1000 bags that do not mention the word: %g, without %g", got, want)
	}
}

func TestUnsaid_IsUndefinedForFewBags(t *testing.T) {
	bag := [][]int32{{0}, {0, 1}, {2}}
	for _, test := range []struct {
		name     string
		captions [][][]int32
		defined  []bool
	}{
		{"none", nil, []bool{false, false, false, false}},
		{"without captions", make([][][]int32, 100), []bool{false, false, false, false}},
		{"29", slices.Repeat([][][]int32{bag}, leastRepeats-1), []bool{false, false, false, false}},
		{"30", slices.Repeat([][][]int32{bag}, leastRepeats), []bool{true, true, true, false}},
		{"one caption a bag", slices.Repeat([][][]int32{{{0, 1, 2}}}, 1000), []bool{false, false, false, false}},
	} {
		for class, u := range unsaidOf(t, test.captions, 4) {
			if defined := !math.IsNaN(u); defined != test.defined[class] || defined && !(u >= 0 && u < 1) {
				t.Errorf("%s: class %d has %g", test.name, class, u)
			}
		}
	}
	// Words that every caption mentions, and words that one of many does: both are at an end of the search.
	always := slices.Repeat([][][]int32{{{0}, {0}, {0}}}, 100)
	if u := unsaidOf(t, always, 1)[0]; !(u < .05) {
		t.Errorf("a word that everybody mentions is left out with %g", u)
	}
	once := slices.Repeat([][][]int32{{{0}, {}, {}, {}, {}}}, 100)
	if u := unsaidOf(t, once, 1)[0]; !(u > .9 && u < 1) {
		t.Errorf("a word that nobody repeats is left out with %g", u)
	}
}

func TestUnsaid_DependsOnCaptionsAlone(t *testing.T) {
	p := replaced(500, 1)
	want := unsaidOf(t, p.captions, p.classes)
	before := runtime.GOMAXPROCS(1)
	one := unsaidOf(t, p.captions, p.classes)
	runtime.GOMAXPROCS(5)
	five := unsaidOf(t, p.captions, p.classes)
	runtime.GOMAXPROCS(before)
	slices.Reverse(p.captions)
	for i, got := range [][]float64{one, five, unsaidOf(t, p.captions, p.classes)} {
		for c := range want {
			if math.Float64bits(got[c]) != math.Float64bits(want[c]) {
				t.Fatalf("way %d, class %d: %g, was %g", i, c, got[c], want[c])
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Unsaid(ctx, p.captions, p.classes); err != context.Canceled {
		t.Errorf("after a signal: %v", err)
	}
}

// The likelihood is the sum of log P(m)/(1-P(0)) by beta functions, and the search ends at its maximum.
func TestBetaBinomial_IsTheEquation(t *testing.T) {
	b := newBetaBinomial(20)
	b.cells = append(b.cells, []cell{
		{1, 1, 7}, {2, 1, 30}, {2, 2, 11}, {5, 1, 20}, {5, 3, 9}, {5, 5, 2}, {20, 1, 4}, {20, 13, 3},
	}...)
	gamma := func(x float64) float64 { l, _ := math.Lgamma(x); return l }
	beta := func(x, y float64) float64 { return gamma(x) + gamma(y) - gamma(x+y) }
	direct := func(mean, spread float64) float64 {
		x, y := mean*(1-spread)/spread, (1-mean)*(1-spread)/spread
		sum := 0.0
		for _, c := range b.cells {
			n, m := float64(c.captions), float64(c.mentions)
			choose := gamma(n+1) - gamma(m+1) - gamma(n-m+1)
			none := math.Exp(beta(x, n+y) - beta(x, y))
			sum += c.bags * (choose + beta(m+x, n-m+y) - beta(x, y) - math.Log(1-none))
		}
		return sum
	}
	greatest := math.Inf(-1)
	for m := -5.0; m <= 4; m += .1 {
		for s := -5.0; s <= 4; s += .1 {
			want := direct(sigmoid(m), sigmoid(s))
			b.set(sigmoid(m), sigmoid(s))
			if got := b.repeats(); !(math.Abs(got-want) < 1e-6*(1+math.Abs(want))) {
				t.Fatalf("mean %g, spread %g: likelihood %g, want %g", sigmoid(m), sigmoid(s), got, want)
			}
			greatest = max(greatest, want)
		}
	}
	b.fit(b.repeats)
	if got := b.repeats(); got < greatest-.01 {
		t.Errorf("the search ends with %g; the greatest is %g", got, greatest)
	}
}
