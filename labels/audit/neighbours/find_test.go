package neighbours

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"nmn/internal/rng"
)

// memory are rows in memory.
type memory struct {
	width  int
	values []float32
}

func (m memory) Len() int   { return len(m.values) / m.width }
func (m memory) Width() int { return m.width }
func (m memory) Read(i int, dst []float32) error {
	copy(dst, m.values[i*m.width:(i+1)*m.width])
	return nil
}

// draw draws rows in clusters, away from 0, the same for a seed.
func draw(seed uint64, rows, width int) memory {
	s, m := rng.New(seed, 1), memory{width, make([]float32, rows*width)}
	for i := range rows {
		for c := range width {
			m.values[i*width+c] = float32(s.Normal(float64((i%5+c)%3)*3-1, 1))
		}
	}
	return m
}

func find(t *testing.T, rows Rows, set func(*Options)) *Result {
	t.Helper()
	o := DefaultOptions()
	if set != nil {
		set(&o)
	}
	r, err := Find(t.Context(), rows, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Distances equal the definition in float64, computed for all pairs, over several chunks and blocks.
func TestFind_IsThatOfAllPairs(t *testing.T) {
	for _, c := range []struct {
		rows, width int
		metric      Metric
	}{{2, 1, ""}, {300, 2, ""}, {9, 5, ""}, {700, 8, ""}, {5000, 33, ""}, {600, 20, Euclidean}, {500, 3, Cosine}} {
		t.Run(fmt.Sprintf("%d×%d%s", c.rows, c.width, c.metric), func(t *testing.T) {
			m := draw(7, c.rows, c.width)
			r := find(t, m, func(o *Options) { o.Metric = c.metric })
			distance := euclidean
			if r.Metric == Cosine {
				distance = cosine
			}
			all := make([]float64, c.rows)
			for i := 0; i < c.rows; i += 1 + c.rows/150 {
				for j := range all {
					if all[j] = distance(m, i, j); i == j {
						all[j] = math.Inf(1)
					}
				}
				if gap := math.Abs(all[r.Rows[i].Nearest] - slices.Min(all)); gap > 1e-6 {
					t.Errorf("row %d: row %d is %g farther than the nearest", i, r.Rows[i].Nearest, gap)
				}
				slices.Sort(all)
				mean := 0.0
				for _, d := range all[:min(10, c.rows-1)] {
					mean += d / float64(min(10, c.rows-1))
				}
				if math.Abs(mean-r.Rows[i].Mean) > 1e-6*(1+mean) || math.Abs(all[0]-r.Rows[i].Distance) > 1e-6*(1+mean) {
					t.Errorf("row %d: mean %.9g, nearest %.9g; want %.9g, %.9g", i, r.Rows[i].Mean, r.Rows[i].Distance, mean, all[0])
				}
			}
		})
	}
}

func cosine(m memory, i, j int) float64 {
	var xy, xx, yy float64
	for c := range m.width {
		x, y := float64(m.values[i*m.width+c]), float64(m.values[j*m.width+c])
		xy, xx, yy = xy+x*y, xx+x*x, yy+y*y
	}
	return 1 - xy/math.Sqrt(xx*yy)
}

func euclidean(m memory, i, j int) (sum float64) {
	for c := range m.width {
		gap := float64(m.values[i*m.width+c]) - float64(m.values[j*m.width+c])
		sum += gap * gap
	}
	return math.Sqrt(sum)
}

// Planted rows are found: one far away, one twice, a chain of three close ones, and nothing else.
func TestFind_OutliersAndDuplicates(t *testing.T) {
	const n, d = 400, 16
	m := memory{d, make([]float32, n*d)}
	s := rng.New(3, 1)
	for i := range n {
		for c := range d {
			m.values[i*d+c] = float32(s.Normal(4, 1))
		}
	}
	row := func(i int) []float32 { return m.values[i*d : (i+1)*d] }
	for c := range d {
		row(17)[c] = float32(s.Normal(-4, 1))
	}
	copy(row(250), row(40))
	for link, i := range []int{300, 310, 320} { // each is close to the one before
		copy(row(i), row(300))
		row(i)[0] += .25 * float32(link)
	}
	r := find(t, m, nil)
	if r.Outliers < 1 || r.Outliers > n/20 || !r.Rows[17].Outlier || r.Rows[17].Score > .1*r.Rows[16].Score {
		t.Errorf("%d outliers, the planted one %+v", r.Outliers, r.Rows[17])
	}
	want := []Group{{[]int{40, 250}, true}, {[]int{300, 310, 320}, false}}
	if !reflect.DeepEqual(r.Groups, want) || r.Duplicates() != 5 {
		t.Fatalf("groups %+v", r.Groups)
	}
	if a := r.Rows[250]; !a.Exact || a.Distance != 0 || a.Nearest != 40 || a.Group != 0 ||
		r.Rows[310].Exact || r.Rows[0].Group != -1 {
		t.Errorf("the copy %+v, a close one %+v, another %+v", a, r.Rows[310], r.Rows[0])
	}
	if got := r.Conflicts(func(i, j int) bool { return (i == 320) == (j == 320) }); !slices.Equal(got, []int{1}) {
		t.Errorf("conflicts in groups %v", got)
	}
}

// More copies of a row than neighbours are asked for are one group all the same, zeros too.
func TestFind_ManyCopiesAreOneGroup(t *testing.T) {
	m := draw(5, 60, 6)
	for i := range 30 {
		clear(m.values[2*i*6 : 2*i*6+6])
	}
	r := find(t, m, func(o *Options) { o.K = 3 })
	if len(r.Groups) != 1 || len(r.Groups[0].Rows) != 30 || !r.Groups[0].Exact {
		t.Errorf("groups %+v", r.Groups)
	}
	if r.Rows[1].Distance >= 1 || r.Rows[0].Distance != 0 {
		t.Errorf("distances %g and %g", r.Rows[1].Distance, r.Rows[0].Distance)
	}
}

func TestFind_SameForAnyNumberOfProcessors(t *testing.T) {
	m := draw(11, 1500, 12)
	want := find(t, m, nil)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, n := range []int{1, 3} {
		runtime.GOMAXPROCS(n)
		if got := find(t, m, nil); !reflect.DeepEqual(got, want) {
			t.Errorf("%d processors: another result", n)
		}
	}
}

func TestFind_Refuses(t *testing.T) {
	m := draw(1, 20, 4)
	nan := draw(1, 20, 4)
	nan.values[9] = float32(math.NaN())
	for what, c := range map[string]struct {
		rows Rows
		set  func(*Options)
		want error
	}{
		"one row": {memory{4, m.values[:4]}, nil, ErrValue},
		"NaN":     {nan, nil, ErrValue},
		"cost":    {m, func(o *Options) { o.Limit = 1e-12 }, ErrCost},
	} {
		o := DefaultOptions()
		if c.set != nil {
			c.set(&o)
		}
		if _, err := Find(t.Context(), c.rows, o); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, set := range []func(*Options){func(o *Options) { o.K = 0 }, func(o *Options) { o.Metric = "far" },
		func(o *Options) { o.Duplicate = 1 }, func(o *Options) { o.Limit = math.NaN() }} {
		o := DefaultOptions()
		set(&o)
		if _, err := Find(t.Context(), m, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ended, m, DefaultOptions()); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

func BenchmarkFind(b *testing.B) {
	for _, size := range [][2]int{{10000, 512}, {50000, 512}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			m := draw(1, size[0], size[1])
			for b.Loop() {
				if _, err := Find(b.Context(), m, DefaultOptions()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(operations(size[0], size[1])*1e3*float64(b.N)/b.Elapsed().Seconds(), "GFLOP/s")
		})
	}
}

// The bounds follow from the quartiles of the means and the median of the nearest, by their definition.
func TestFind_BoundsAreThoseOfTheDefinition(t *testing.T) {
	o := DefaultOptions()
	r := find(t, draw(3, 41, 6), nil) // quartiles of 41 values are values
	var means, nearest []float64
	for _, row := range r.Rows {
		means, nearest = append(means, row.Mean), append(nearest, row.Distance)
	}
	slices.Sort(means)
	slices.Sort(nearest)
	if want := means[30] + 1.7*(means[30]-means[10]); math.Abs(r.OutlierAbove-want) > 1e-12 {
		t.Errorf("outliers are above %v, want %v", r.OutlierAbove, want)
	}
	if want := o.Duplicate * nearest[20]; math.Abs(r.DuplicateBelow-want) > 1e-12 {
		t.Errorf("near-duplicates are below %v, want %v", r.DuplicateBelow, want)
	}
	outliers := 0
	for i, row := range r.Rows {
		if want := math.Exp(-row.Mean / means[20]); math.Abs(row.Score-want) > 1e-12 ||
			row.Outlier != (row.Mean > r.OutlierAbove) {
			t.Errorf("row %d: %+v, want the score %v", i, row, want)
		}
		if row.Outlier {
			outliers++
		}
	}
	if outliers != r.Outliers {
		t.Errorf("%d outliers, want %d", r.Outliers, outliers)
	}
}
