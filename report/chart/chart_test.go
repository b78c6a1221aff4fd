package chart

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// sample is a chart with every shape, and names full of markup.
func sample() *Chart {
	c := &Chart{Title: `a <b> & "c"`, Summary: "rises\x1b[2J", X: Axis{Label: "step"}, Y: Axis{Label: "loss"}}
	points := []Point{{0, 1}, {1, 3}, {2, math.NaN()}, {3, 2}}
	for s := Line; s <= Upright; s++ {
		c.Marks = append(c.Marks, Mark{Name: "</svg>" + string(rune('a'+s)), Shape: s, Color: Color(int(s) % Colors),
			Points: points, Dashed: s == Line, Faint: s == Thick, Lift: float64(s)})
	}
	return c
}

func rowChart(above bool) *Chart {
	return &Chart{Title: "rows", Rows: []string{"first", "second with a name that is rather long"}, Above: above,
		Values: []string{"1.0", "2.0"}, X: Axis{Label: "rate"},
		Marks: []Mark{{Shape: Thick, Points: []Point{{0, 0}, {.2, 0}, {0, 1}, {.4, 1}}},
			{Shape: Dot, Points: []Point{{.1, 1}}}}}
}

func wellFormed(t *testing.T, s string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in %s", err, s)
		}
	}
}

func TestInline_IsTextOfThePageAtEveryWidth(t *testing.T) {
	for _, c := range []*Chart{sample(), rowChart(true), rowChart(false)} {
		html := string(c.Inline("x"))
		wellFormed(t, "<div>"+html+"</div>")
		outer := regexp.MustCompile(`<svg role="img"[^>]*>`).FindString(html)
		if outer == "" || strings.Contains(outer, "viewBox") || strings.Contains(outer, "width=") {
			t.Errorf("the drawing scales with the page, and its text with it: %s", outer)
		}
		for _, own := range []string{"font-family", "font-size", "serif", "#", "fill=", "stroke="} {
			if strings.Contains(strings.ReplaceAll(html, "&#", ""), own) {
				t.Errorf("the chart has looks of its own: %q", own)
			}
		}
		for _, part := range []string{`aria-labelledby="x-t x-d"`, `<title id="x-t">`, `<desc id="x-d">`} {
			if strings.Count(html, part) != 1 {
				t.Errorf("%d times %q", strings.Count(html, part), part)
			}
		}
		if n := strings.Count(html, "<b>"); n != 0 {
			t.Errorf("%d names are markup", n)
		}
	}
	if html := string(sample().Inline("x")); strings.Contains(html, "\x1b") || strings.Count(html, "<li>") != 8 {
		t.Errorf("legend or hidden characters: %s", html)
	}
}

func TestInline_RowsFromTheTop(t *testing.T) {
	html := string(rowChart(true).Inline("x"))
	first, second := strings.Index(html, ">first<"), strings.Index(html, ">second with a name that is rather long<")
	if first < 0 || second < first || !strings.Contains(html, `y="25%"`) || !strings.Contains(html, ">2.0<") {
		t.Errorf("rows: %s", html)
	}
	if html := string(rowChart(false).Inline("x")); !strings.Contains(html, ">second with a nam…<") {
		t.Errorf("a long name beside its row: %s", html)
	}
}

func TestSpan_WidensWhatHasCollapsedAndNothingElse(t *testing.T) {
	for _, c := range [][4]float64{{0, 1, 0, 1}, {3, 3, 2, 4}, {1e10, 1e10, .95e10, 1.05e10}, {-5, 2, -5, 2},
		{math.Inf(1), math.Inf(-1), 0, 1}, {math.NaN(), 1, 0, 1}, {0, 5e-324, -1, 1}} {
		if low, high := span(c[0], c[1]); low != c[2] || math.Abs(high/c[3]-1) > 1e-9 {
			t.Errorf("%g to %g becomes %g to %g, want %g to %g", c[0], c[1], low, high, c[2], c[3])
		}
	}
}

func TestTicks_AreRoundAndToldApart(t *testing.T) {
	for _, axis := range [][2]float64{{81.97, 82.03}, {0, 1}, {0.0312, 0.0314}, {2.1, 2.9}, {0, 3000}, {0, 123456},
		{-1, 0}, {-1e300, 1e300}, {1e-12, 3e-12}, {0, 1e7}, {1e10, 1.000001e10}} {
		seen := map[string]bool{}
		ticks := Axis{Min: axis[0], Max: axis[1]}.ticks()
		for _, tick := range ticks {
			if seen[tick.label] || tick.at < axis[0]-1e-9*(axis[1]-axis[0]) || tick.at > axis[1]*(1+1e-9)+1e-9 {
				t.Errorf("from %v to %v: %q at %v", axis[0], axis[1], tick.label, tick.at)
			}
			seen[tick.label] = true
		}
		if len(ticks) < 2 || len(ticks) > 7 {
			t.Errorf("from %v to %v there are %d ticks", axis[0], axis[1], len(ticks))
		}
	}
	if ticks := (Axis{Max: 120_000}).ticks(); ticks[1].label != "20,000" {
		t.Errorf("thousands are written %q", ticks[1].label)
	}
	if ticks := (Axis{Min: -1, Max: 0, Step: .2}).ticks(); len(ticks) != 6 || ticks[0].label != "−1.0" ||
		ticks[5].label != "0" {
		t.Errorf("%v", ticks)
	}
}

func TestDrawable_LeavesOutWhatHasNoPlace(t *testing.T) {
	bad := math.NaN()
	if got := drawable([]Point{{0, 1}, {1, bad}, {2, 2}, {3, 2}, {4, 4}}, Thin); len(got) != 2 || got[0].X != 2 {
		t.Errorf("pairs: %v", got)
	}
	if got := drawable([]Point{{0, math.Inf(1)}, {1, 1e308}}, Dot); len(got) != 1 || got[0].Y != mostDrawn {
		t.Errorf("huge: %v", got)
	}
	if !(&Chart{Marks: []Mark{{Points: []Point{{bad, bad}}}}}).Empty() || sample().Empty() {
		t.Error("what is empty")
	}
}

func TestSettled_AxesSpanThePointsOfTheirOwnCoordinate(t *testing.T) {
	c := &Chart{Marks: []Mark{{Shape: Dot, Points: []Point{{1, 30}, {4, 10}, {2, math.Inf(1)}}},
		{Shape: Dot, Points: []Point{{math.NaN(), 5}}}}}
	s := c.settled()
	if s.X.Min != 1 || s.X.Max != 4 || s.Y.Min != 10 || s.Y.Max != 30 || len(s.Marks) != 1 {
		t.Errorf("x %+v, y %+v, %d marks", s.X, s.Y, len(s.Marks))
	}
	c.Y = Axis{Min: -1, Max: 100}
	if s := c.settled(); s.Y.Min != -1 || s.Y.Max != 100 || s.X.Min != 1 {
		t.Errorf("given bounds: x %+v, y %+v", s.X, s.Y)
	}
}

// A long line is thinned, keeps both of its ends, and has its last point once.
func TestDrawable_ThinsLongLines(t *testing.T) {
	for _, n := range []int{mostPoints, mostPoints + 1, 2*mostPoints + 1, 10 * mostPoints} {
		points := make([]Point, n)
		for i := range points {
			points[i].X = float64(i)
		}
		thin := drawable(points, Line)
		if len(thin) > mostPoints+1 || thin[0].X != 0 || thin[len(thin)-1].X != float64(n-1) {
			t.Errorf("%d points became %d, from %v to %v", n, len(thin), thin[0], thin[len(thin)-1])
		}
		for i := 1; i < len(thin); i++ {
			if thin[i].X <= thin[i-1].X {
				t.Fatalf("%d points: %v comes after %v", n, thin[i], thin[i-1])
			}
		}
		if whole := drawable(points, Dot); len(whole) != n {
			t.Errorf("of %d dots, %d are left", n, len(whole))
		}
	}
}

func TestNice_EndsAtTheTicksAround(t *testing.T) {
	for _, test := range []struct{ low, high, wantLow, wantHigh float64 }{
		{.3, 9.7, 0, 10}, {0, 10, 0, 10}, {-3, 4, -4, 4}, {12, 1180, 0, 1200},
	} {
		got := Axis{Min: test.low, Max: test.high}.nice()
		if got.Min != test.wantLow || got.Max != test.wantHigh {
			t.Errorf("%g to %g became %g to %g, want %g to %g", test.low, test.high, got.Min, got.Max,
				test.wantLow, test.wantHigh)
		}
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// Charts look as they looked: every place of every line and sign.
func TestCharts_AreGolden(t *testing.T) {
	bounds := sample()
	bounds.X, bounds.Y = Axis{Label: "rate", Min: -4, Max: 1}, Axis{Label: "loss", Min: .5,
		Max: 3.5, Step: .5}
	for name, c := range map[string]*Chart{"numbers": sample(), "bounds": bounds, "above": rowChart(true),
		"beside": rowChart(false)} {
		got, path := string(c.Inline("x")), filepath.Join("testdata", name+".html")
		if *update {
			expect.OK(t, os.MkdirAll("testdata", 0o777))
			expect.OK(t, os.WriteFile(path, []byte(got), 0o666))
		}
		want, err := os.ReadFile(path)
		expect.OK(t, err)
		if got != string(want) {
			t.Errorf("%s differs (go test ./report/chart -update writes it anew):\n%s", path, got)
		}
	}
}
