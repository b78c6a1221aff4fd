package rates

import (
	"math"
	"testing"

	"nmn/internal/rng"
)

// firstColumn is the column of the first class.
func firstColumn(in *Input) column {
	columns := make([]column, 1)
	copyColumns(in, 0, columns, make([]float32, in.Bags))
	return columns[0]
}

// Sums over the nodes of many rows are those over the rows, for slopes as far as they may go, with rows that lie beyond
// the bins among them.
func TestNodes_GiveTheSumsOverRows(t *testing.T) {
	s := rng.New(7, 1)
	rows := make([]float32, 50000)
	for i := range rows {
		rows[i] = float32(s.Normal(-3, 4))
	}
	rows[0], rows[1], rows[2], rows[3] = 64, -64, 250, -300
	each := nodes{}
	for _, o := range rows {
		each.x, each.w = append(each.x, float64(o)), append(each.w, 1)
	}
	n := nodesOf(rows)
	if len(n.x) > 2000 {
		t.Errorf("%d nodes of %d rows", len(n.x), len(rows))
	}
	sum := 0.0
	for _, w := range n.w {
		sum += w
	}
	near(t, "the weight of all nodes", sum, float64(len(rows)), 1e-8)
	for _, c := range []struct {
		m         model
		tolerance float64
	}{{model{.2, .02, .3, 0}, 1e-12}, {model{.6, 1e-5, 1, -1}, 1e-12}, {model{.2, .02, 3, 2}, 1e-10},
		{model{1e-4, .3, 8, 5}, 1e-6}} {
		for z := range uint8(2) {
			of, want := make([]float64, len(n.x)), make([]float64, len(rows))
			got, all := c.m.expect(z, n, of), c.m.expect(z, each, want)
			moved := c.m
			moved.a, moved.b = .9*moved.a, moved.b+.1
			got, all = got.plus(moved.refine(n, of)), all.plus(moved.refine(each, want))
			for what, pair := range map[string][2]float64{"r": {got.r, all.r}, "ga": {got.A, all.A}, "gb": {got.B, all.B},
				"haa": {got.AA, all.AA}, "hab": {got.AB, all.AB}, "hbb": {got.BB, all.BB}} {
				if gap := math.Abs(pair[0] - pair[1]); !(gap <= c.tolerance*math.Max(all.r+all.BB+math.Abs(all.A), 1)) {
					t.Errorf("%+v, %s: %g by nodes, %g by rows", c.m, what, pair[0], pair[1])
				}
			}
		}
	}
}

// If there are few rows, each is a node: sums have the same bits as without nodes.
func TestNodes_FewRowsStayThemselves(t *testing.T) {
	rows := []float32{3, -2, .5}
	for i, x := range nodesOf(rows).x {
		if x != float64(rows[i]) {
			t.Errorf("node %d is %g", i, x)
		}
	}
}
