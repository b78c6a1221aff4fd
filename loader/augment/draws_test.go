package augment

import (
	"math"
	"slices"
	"testing"
)

// moments are the mean and the variance of n draws.
func moments(n int, draw func(i int) float64) (mean, variance float64) {
	sum, squares := 0., 0.
	for i := range n {
		v := draw(i)
		sum, squares = sum+v, squares+v*v
	}
	mean = sum / float64(n)
	return mean, squares/float64(n) - mean*mean
}

// near holds a statistic to its expectation.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.4f, want %.4f ± %g", what, got, want, tolerance)
	}
}

const many = 20000

// For a square picture and areas up to a half every crop fits at once: area, logarithm of the ratio and
// position are uniform.
func TestCrop_AreasRatiosAndPlaces(t *testing.T) {
	d := NewDraws(Config{Crop: CropConfig{Area: Range{.08, .5}}}, 5)
	const side = 1000
	area, of := moments(many, func(i int) float64 {
		r := d.Crop(1, i, side, side)
		if r.X < 0 || r.Y < 0 || r.X+r.Width > side || r.Y+r.Height > side || r.Width < 1 || r.Height < 1 {
			t.Fatalf("%+v is not in the picture", r)
		}
		return float64(r.Width*r.Height) / (side * side)
	})
	near(t, "the mean area", area, .29, .003)
	near(t, "the variance of areas", of, .42*.42/12, .0004)
	ratio, of := moments(many, func(i int) float64 {
		r := d.Crop(1, i, side, side)
		return math.Log(float64(r.Width) / float64(r.Height))
	})
	near(t, "the mean logarithm of ratios", ratio, 0, .005)
	near(t, "their variance", of, math.Pow(2*math.Log(4./3), 2)/12, .001)
	place, _ := moments(many, func(i int) float64 {
		r := d.Crop(1, i, side, side)
		return float64(r.X) / float64(side-r.Width)
	})
	near(t, "the mean place", place, .5, .01)
}

// A picture that no rectangle fits into shows the largest one in its middle, and a tiny one shows something.
func TestCrop_FallsBackToTheMiddle(t *testing.T) {
	d := NewDraws(Config{Crop: CropConfig{Area: Range{1, 1}}}, 5)
	for _, c := range []struct{ size, want Rect }{
		{Rect{Width: 300, Height: 100}, Rect{83, 0, 133, 100}},
		{Rect{Width: 100, Height: 300}, Rect{0, 83, 100, 133}},
		{Rect{Width: 1, Height: 1}, Rect{0, 0, 1, 1}},
		{Rect{Width: 900, Height: 1}, Rect{449, 0, 1, 1}},
	} {
		if got := d.Crop(0, 3, c.size.Width, c.size.Height); got != c.want {
			t.Errorf("%d×%d is cropped to %+v, want %+v", c.size.Width, c.size.Height, got, c.want)
		}
	}
	if got := NewDraws(Config{}, 5).Crop(0, 3, 7, 9); got != (Rect{0, 0, 7, 9}) {
		t.Errorf("without crops a picture is cropped to %+v", got)
	}
}

func TestJitter_FactorsAndOrder(t *testing.T) {
	d := NewDraws(Config{Jitter: JitterConfig{Brightness: .4, Contrast: 2, Hue: .1}}, 5)
	for factor, want := range [][2]float64{{1, .8 * .8 / 12}, {1.5, 9. / 12}, {1, 0}, {0, .04 / 12}} {
		mean, variance := moments(many, func(i int) float64 { return d.Jitter(1, i).Factors[factor] })
		near(t, "the mean factor", mean, want[0], .02)
		near(t, "its variance", variance, want[1], .02*want[1])
	}
	orders := map[[4]int]int{}
	for i := range many {
		orders[d.Jitter(1, i).Order]++
	}
	for order, n := range orders {
		near(t, "the share of an order", float64(n)/many, 1./24, .006)
		if sorted := slices.Sorted(slices.Values(order[:])); !slices.Equal(sorted, []int{0, 1, 2, 3}) {
			t.Errorf("the order %v", order)
		}
	}
	if len(orders) != 24 {
		t.Errorf("%d orders", len(orders))
	}
}

func TestSteps_AllOperationsBothWays(t *testing.T) {
	d := NewDraws(Config{Rand: RandConfig{Operations: 2, Magnitude: 10}}, 5)
	counts, up := map[Op]int{}, map[Op]int{}
	for i := range many {
		steps := d.Steps(nil, 1, i, 100, 50)
		if len(steps) != 2 {
			t.Fatalf("%d operations", len(steps))
		}
		for _, s := range steps {
			counts[s.Op]++
			if s.Strength > s.Op.strength(0, false, 100, 50) {
				up[s.Op]++
			}
		}
	}
	for op := range Op(len(randOperations)) {
		near(t, "the share of "+op.String(), float64(counts[op])/(2*many), 1./14, .005)
		if bothWays := op.strength(10, false, 100, 50) != op.strength(10, true, 100, 50); bothWays {
			near(t, "the share of "+op.String()+" that goes up", float64(up[op])/float64(counts[op]), .5, .04)
		}
	}
	if first, second := d.Steps(nil, 1, 3, 100, 50), d.Steps(nil, 2, 3, 100, 50); slices.Equal(first, second) &&
		slices.Equal(d.Steps(nil, 3, 3, 100, 50), first) {
		t.Error("three epochs have the same operations")
	}
}

func TestErase_HowOftenAndHowMuch(t *testing.T) {
	d := NewDraws(Config{Erasing: ErasingConfig{Probability: .3, Area: Range{.02, .1}, Ratio: Range{.5, 2}}}, 5)
	erased, area, ratio := 0, 0., 0.
	for i := range many {
		r, ok := d.Erase(1, i, 400, 400)
		if !ok {
			continue
		}
		erased++
		if r.X < 0 || r.Y < 0 || r.X+r.Width > 400 || r.Y+r.Height > 400 {
			t.Fatalf("%+v is not in the picture", r)
		}
		area += float64(r.Width*r.Height) / (400 * 400)
		ratio += math.Log(float64(r.Height) / float64(r.Width))
	}
	near(t, "the share of pictures", float64(erased)/many, .3, .01)
	near(t, "the mean area", area/float64(erased), .06, .001)
	near(t, "the mean logarithm of ratios", ratio/float64(erased), 0, .02)
	if _, ok := d.Erase(1, 0, 1, 1); ok {
		t.Error("a picture of one pixel is erased")
	}
}

// Beta(α, α) has the mean .5 and the variance 1/(4(2α+1)).
func TestWeight_IsBeta(t *testing.T) {
	for _, alpha := range []float64{leastAlpha, .05, .2, 1, 4, mostAlpha} {
		d := NewDraws(Config{Mixup: alpha}, 5)
		mean, variance := moments(many, func(i int) float64 {
			w := d.Weight(2, i)
			if w < 0 || w > Wholes {
				t.Fatalf("α = %g: weight %d", alpha, w)
			}
			return float64(w) / Wholes
		})
		near(t, "the mean weight", mean, .5, .012)
		near(t, "its variance", variance, 1/(4*(2*alpha+1)), .02/(2*alpha+1))
	}
}

// Every bag has one partner, which has it as its own; with an odd number one is left over. All pairs come up.
func TestPairs_AreMutualAndRandom(t *testing.T) {
	d := NewDraws(Config{Mixup: 1}, 5)
	for n := range 9 {
		together := map[[2]int]int{}
		partners, order := make([]int, n), make([]int, n)
		const batches = 2000
		for batch := range batches {
			d.Pairs(partners, order, 1, batch)
			alone := 0
			for i, p := range partners {
				if partners[p] != i {
					t.Fatalf("partners %v", partners)
				}
				if p == i {
					alone++
				}
				together[[2]int{i, p}]++
			}
			if alone != n%2 {
				t.Fatalf("partners %v: %d are alone", partners, alone)
			}
		}
		each := 1. / float64(n)
		if n%2 == 0 {
			each = 1. / float64(n-1)
		}
		for pair, count := range together {
			near(t, "the share of a pair", float64(count)/batches, each, .06)
			if n%2 == 0 && pair[0] == pair[1] {
				t.Errorf("pair %v", pair)
			}
		}
	}
}

// Draws for different purposes are independent: crops of the left half are mirrored, jittered and erased no
// more often than others.
func TestDraws_PurposesAreApart(t *testing.T) {
	d := NewDraws(Config{Crop: CropConfig{Area: Range{.1, .5}}, Erasing: ErasingConfig{Probability: .5}, Mixup: 1}, 5)
	both, left, erased := 0, 0, 0
	for i := range many {
		l := d.Crop(1, i, 100, 100).X < 25
		_, e := d.Erase(1, i, 100, 100)
		if l {
			left++
		}
		if e {
			erased++
		}
		if l && e {
			both++
		}
	}
	near(t, "the share of both", float64(both)/many, float64(left)/many*float64(erased)/many, .015)
}
