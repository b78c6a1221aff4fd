package recurrent

import (
	"testing"

	"nmn/internal/rng"
	"nmn/tools/optest"
)

// Kept logits equal logits computed again: the limit of memory for them changes no bit.
func TestCrossEntropy_KeptLogitsChangeNoBit(t *testing.T) {
	const m, v, d = 37, 9001, 21 // several blocks of words at every level
	stream := rng.New(8)
	h, w, bias := optest.Normal(t, &stream, 1, m, d), optest.Normal(t, &stream, 1, v, d), optest.Normal(t, &stream, 1, v)
	words := make([]int32, m)
	for i := range words {
		words[i] = int32(stream.Intn(v))
	}
	run := func(part int) (results [4][]float32, kept, blocks int) {
		c := NewCPU(optest.Device(t, 2), optest.Level(t))
		c.keep = part * m * v / 4
		loss, dh := optest.Floats(t, nil, m), optest.Floats(t, nil, m, d)
		dw, db := optest.Floats(t, nil, v, d), optest.Floats(t, nil, v)
		for range 2 { // the second call finds the first one's memory
			optest.Must(t, c.CrossEntropy(loss, dh, dw, db, h, w, bias, optest.Ints(t, words...), .5))
		}
		e := &c.entropy
		return [4][]float32{loss.Float32s(), dh.Float32s(), dw.Float32s(), db.Float32s()}, len(e.kept) / (e.words * e.lanes),
			e.blocks
	}
	want, kept, blocks := run(0)
	if kept != 0 || blocks < 4 {
		t.Fatalf("%d of %d blocks kept, want none of several", kept, blocks)
	}
	for part, name := range map[int]string{2: "some", 8: "all"} {
		got, kept, blocks := run(part)
		if kept == 0 || (kept == blocks) != (name == "all") {
			t.Fatalf("%d of %d blocks kept, want %s", kept, blocks, name)
		}
		for i, of := range []string{"loss", "dh", "dw", "db"} {
			sameBits(t, name+" kept: "+of, got[i], want[i])
		}
	}
}
