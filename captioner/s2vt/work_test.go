package s2vt

import (
	"testing"

	"nmn/internal/rng"
)

// Where room has been made for the largest batch, no batch moves the net's memory: recorded work names it.
func TestReserve_HoldsAllBatchesUpToItsSize(t *testing.T) {
	c := small()
	n := newNet(t, openCPU(t, "", 1), c)
	stream, most := rng.New(5), Size{Clips: 9, Frames: c.Frames, Words: 12}
	batches := make([]*Batch, 60)
	for i := range batches {
		b, said := &Batch{}, 0
		for range 1 + stream.Intn(most.Clips) {
			words := make([]int32, 1+stream.Intn(min(most.Words, 1+i)))
			for j := range words {
				words[j] = Reserved
			}
			b.Features = append(b.Features, make([]float32, c.Features*(1+stream.Intn(c.Frames))))
			b.Captions, b.Samples = append(b.Captions, words), append(b.Samples, i)
			said += len(words) + 1
		}
		batches[i], most.Said = b, max(most.Said, said)
	}
	check(t, n.Reserve(most))
	held := n.Bytes()
	seen := map[Work]bool{}
	for _, b := range batches {
		w, err := n.Place(b, 0)
		check(t, err)
		again, err := n.Place(b, 0)
		check(t, err)
		if w != again {
			t.Fatalf("%v: the same batch is other work", w)
		}
		seen[w] = true
	}
	if n.Bytes() != held {
		t.Errorf("%d bytes after %d batches, %d were reserved", n.Bytes(), len(batches), held)
	}
	if len(seen) == len(batches) {
		t.Error("every batch has a shape of its own")
	}
}

// Rows that round the number of words up say nothing: the loss and all gradients are those without them, bit for bit
// on the host, which leaves them out.
func TestStep_RowsWithoutAWordChangeNothing(t *testing.T) {
	n := newNet(t, openCPU(t, "", 2), small())
	b := uneven(n.Config())
	loss, want := run(t, n, b, 0), gradients(t, n)
	p, err := n.planFor(b)
	check(t, err)
	key := p.planKey
	key.words += 5 * rounded
	wide, err := n.planOf(key)
	check(t, err)
	n.plans[p.planKey] = wide
	if got := run(t, n, b, 0); got != loss {
		t.Errorf("loss %v, want %v", got, loss)
	}
	for name, values := range gradients(t, n) {
		sameBits(t, name, values, want[name])
	}
}
