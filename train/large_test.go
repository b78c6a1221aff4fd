package train

import (
	"cmp"
	"slices"
	"testing"

	"nmn/group"
	"nmn/internal/rng"
	"nmn/kernels/noise"
	"nmn/loader"

	dense "gorgonia.org/tensor"
)

// Ranks choose of their parts of a batch, with many equal logits, what one process chooses of all of it: the largest, and
// of equal ones the first bags and classes.
func TestLargest_ChoosesWhatOneProcessChooses(t *testing.T) {
	const classes = 3
	s := rng.New(7)
	for _, bags := range []int{1, 2, 5, 16} {
		order := make([]int, bags) // of the batch
		for i := range order {
			order[i] = 100 + 7*i%bags
		}
		logits, labels := make([]float32, bags*classes), make([]float32, bags*classes)
		for i := range logits {
			logits[i], labels[i] = float32(int(s.Normal(0, 2))), [3]float32{0, 0, 1}[i%3]
		}
		for size := 1; size <= 4; size++ {
			holder, read := make([]int, bags), make([]bool, bags)
			for i := range holder {
				holder[i], read[i] = int(s.Float64()*float64(size)), s.Float64() < .8
			}
			for count := 1; count <= bags*classes; count += 2 {
				taken := wanted(logits, labels, read, classes, count)
				told := make([][]byte, size)
				for rank := range told {
					told[rank] = tellBags(rank, order, holder, read, logits, labels, classes)
				}
				for rank := range size {
					c := largest{count: count, width: classes}
					check(t, c.hear(told))
					limit, equal := noise.LimitOf(c.ranks, count)
					want := 0
					for i := range taken {
						if taken[i] && holder[i/classes] == rank {
							want++
						}
					}
					if got := c.above(rank, limit) + c.among(rank, order, limit, equal); got != want {
						t.Errorf("%d bags, %d of them, rank %d of %d: %d are its own, want %d", bags, count, rank, size, got, want)
					}
				}
			}
		}
	}
}

// wanted are the labels that one process takes.
func wanted(logits, labels []float32, read []bool, classes, count int) []bool {
	var places []int
	for i, label := range labels {
		if label == 0 && read[i/classes] {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(logits[b], logits[a]) })
	taken := make([]bool, len(labels))
	for _, i := range places[:min(count, len(places))] {
		taken[i] = true
	}
	return taken
}

// tellBags is what a rank tells of the bags that it holds, without room for a length.
func tellBags(rank int, order, holder []int, read []bool, logits, labels []float32, classes int) []byte {
	var c largest
	batch := loader.Batch{}
	var own []float32
	for i, bag := range order {
		if holder[i] == rank && read[i] {
			batch.Index, batch.N = append(batch.Index, bag), batch.N+1
			own = append(own, labels[i*classes:(i+1)*classes]...)
			c.logits = append(c.logits, logits[i*classes:(i+1)*classes]...)
		}
	}
	if batch.N > 0 {
		batch.Labels = dense.New(dense.WithShape(batch.N, classes), dense.WithBacking(own))
	}
	c.tell(&batch, nil)
	return slices.Clone(c.told[group.LongPrefix:])
}

// What another rank tells is read with care: it may be another program.
func TestLargest_RefusesWhatIsNoMessage(t *testing.T) {
	whole := tellBags(0, []int{4}, []int{0}, []bool{true}, []float32{1, 2}, []float32{0, 0}, 2)
	for n := 1; n < len(whole); n++ {
		c := largest{count: 1, width: 2}
		if err := c.hear([][]byte{whole[:n]}); err == nil && n > 1 {
			t.Errorf("%d of %d bytes are taken for a message", n, len(whole))
		}
	}
	c := largest{count: 1, width: 2}
	if err := c.hear([][]byte{append([]byte{whole[0]}, 255, 255, 255, 255, 255, 255, 255, 255)}); err == nil {
		t.Error("a message of very many bags is taken")
	}
}
