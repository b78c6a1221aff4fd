package ranksuite

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"nmn/ranks"
)

// lengths of the arrays that are summed: none, fewer than ranks, odd, and more than fits into one message.
var lengths = []int{0, 1, 2, 3, 7, 1000, 4097, 1<<20 + 3}

// looked are the numbers of n that are compared with their sum in float64: the first and last thousand, and each 31st.
func looked(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n; i++ {
			if (i < 1000 || i >= n-1000 || i%31 == 0) && !yield(i) {
				return
			}
		}
	}
}

// near returns an error unless x is the sum of the ranks' numbers, up to the order of the sum.
func near(g ranks.Group, x []float32) error {
	for i := range looked(len(x)) {
		got, want, magnitude := x[i], 0.0, 0.0
		for rank := range g.Size() {
			want += float64(value(rank, i))
			magnitude += math.Abs(float64(value(rank, i)))
		}
		if d := math.Abs(float64(got) - want); !(d <= 1e-6*magnitude) {
			return fmt.Errorf("of %d numbers, number %d is %v; want %v", len(x), i, got, want)
		}
	}
	return nil
}

// sum begins a sum and waits for it.
func sum(g ranks.Group, x []float32, wire ranks.Wire) error {
	if err := g.Sum(x, wire); err != nil {
		return err
	}
	return g.Wait()
}

func sums(g ranks.Group) error {
	var wrong error
	for _, n := range lengths {
		x := numbers(g.Rank(), n)
		if err := sum(g, x, ranks.Float32); err != nil {
			return err
		}
		wrong = errors.Join(wrong, near(g, x), equalEverywhere(g, x))
	}
	return wrong
}

func sumsBegunTogether(g ranks.Group) error {
	var all [][]float32
	for _, n := range lengths {
		all = append(all, numbers(g.Rank(), n))
	}
	for i, x := range all {
		if err := g.Sum(x, ranks.Wire(i%2)*ranks.BFloat16); err != nil {
			return err
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var wrong error
	for i, x := range all {
		if i%2 == 0 {
			wrong = errors.Join(wrong, near(g, x))
		}
		wrong = errors.Join(wrong, equalEverywhere(g, x))
	}
	return wrong
}

func sumTwice(g ranks.Group) error {
	first := numbers(g.Rank(), 300001)
	second := slices.Clone(first)
	err := errors.Join(sum(g, first, ranks.Float32), sum(g, second, ranks.Float32))
	if err == nil && !slices.Equal(first, second) {
		err = errors.New("the same numbers have two sums")
	}
	return err
}

// sumOfStrangers adds non-finite numbers: one rank's NaN and infinity reach all ranks, and infinities of both
// signs make NaN.
func sumOfStrangers(g ranks.Group) error {
	var wrong error
	last := g.Rank() == g.Size()-1
	for _, wire := range []ranks.Wire{ranks.Float32, ranks.BFloat16} {
		x := []float32{1, 1, 1, float32(math.Inf(1)), 1}
		if last {
			x[0], x[1], x[2] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))
			// A NaN whose set bits bfloat16 has no room for.
			x[4] = math.Float32frombits(0x7f800001)
			if g.Size() > 1 {
				x[3] = float32(math.Inf(-1))
			}
		}
		if err := sum(g, x, wire); err != nil {
			return err
		}
		third := math.IsNaN(float64(x[3])) || g.Size() == 1
		if !math.IsNaN(float64(x[0])) || !math.IsInf(float64(x[1]), 1) || !math.IsInf(float64(x[2]), -1) || !third ||
			!math.IsNaN(float64(x[4])) {
			wrong = errors.Join(wrong, fmt.Errorf("wire %d: %v", wire, x))
		}
	}
	return wrong
}

// bfloat16 is the nearest bfloat16, ties to even.
func bfloat16(v float32) float32 {
	b := math.Float32bits(v)
	return math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
}

// sumInBFloat16 requires each rank's numbers and their sum to be rounded, and nothing else.
func sumInBFloat16(g ranks.Group) error {
	if g.Size() == 1 {
		return nil // nothing travels
	}
	for _, n := range lengths {
		x := numbers(g.Rank(), n)
		if err := sum(g, x, ranks.BFloat16); err != nil {
			return err
		}
		for i := range looked(n) {
			got, exact, magnitude := x[i], 0.0, 0.0
			for rank := range g.Size() {
				v := float64(bfloat16(value(rank, i)))
				exact += v
				magnitude += math.Abs(v)
			}
			// Half of the last place of a bfloat16, and the order of a sum in float32.
			if d := math.Abs(float64(got) - exact); !(d <= math.Abs(exact)/256+1e-6*magnitude) || bfloat16(got) != got {
				return fmt.Errorf("of %d numbers, number %d is %v; want %v", n, i, got, bfloat16(float32(exact)))
			}
		}
		if err := equalEverywhere(g, x); err != nil {
			return err
		}
	}
	return nil
}

// sumBesideOthers begins sums and makes other calls before it waits.
func sumBesideOthers(g ranks.Group) error {
	x, y := numbers(g.Rank(), 500001), numbers(g.Rank(), 3)
	data := make([]byte, 9)
	if g.Rank() == 0 {
		copy(data, "from zero")
	}
	if err := errors.Join(g.Sum(x, ranks.Float32), g.Sum(y, ranks.Float32)); err != nil {
		return err
	}
	all, err := g.Gather([]byte{byte(g.Rank())})
	if err := errors.Join(err, g.Broadcast(data), g.Wait()); err != nil {
		return err
	}
	if string(data) != "from zero" || int(all[g.Size()-1][0]) != g.Size()-1 {
		return fmt.Errorf("%q, %v", data, all)
	}
	return errors.Join(near(g, x), near(g, y))
}
