package s2vt

import (
	"errors"
	"fmt"

	"nmn/kernels/tensor"

	dense "gorgonia.org/tensor"
)

// plan is a shape of batch: views of the net's buffers, which all plans share. A batch must be used up before
// the next one is laid out.
//
// Rows of a step and a clip are in the order of steps, so that a phase is a run of rows: T·N rows of frames,
// then L·N rows of words.
type plan struct {
	planKey

	features            *tensor.Tensor // T·N×1×1×F
	embedded, dembedded *tensor.Tensor // T·N×1×1×E
	seen, dseen         *tensor.Tensor // L·N×1×1×D: vectors of the words before
	seenRows, dseenRows *tensor.Tensor // the same as L·N×D
	product             *tensor.Tensor // L·N×1×1×4H: of seen with its weights
	shut                *tensor.Tensor // T·N×4H, in the same memory: what shuts gates before the first frame
	ragged              bool           // whether a clip has fewer frames than others

	lower, upper layer
	dh           *tensor.Tensor // T+L×N×H: gradient of the states of the upper layer, then of the lower one
	dhFrames     *tensor.Tensor // T of its steps
	dhWords      *tensor.Tensor // L·N×H, its other rows
	dhRows       *tensor.Tensor // all of it as (T+L)·N×1×1×H

	said, dsaid *tensor.Tensor // M×H: states that say a word
	losses      *tensor.Tensor // M

	ints                    *tensor.Tensor // all of the following
	missing, frameKeys      *tensor.Tensor // T·N
	previous, row, wordKeys *tensor.Tensor // L·N
	target, at, rowKeys     *tensor.Tensor // M
	still                   *tensor.Tensor // L·N zeros

	host       host
	featuresIn *dense.Dense
	intsIn     *dense.Dense
	lossesOut  *dense.Dense
}

// planKey is a shape of batch: T frames, L words at most, N clips, M words in all, rounded up.
type planKey struct{ frames, steps, clips, words int }

// layer are the buffers of an LSTM over all steps, and views of them.
type layer struct {
	gates, h, c *tensor.Tensor // T+L×N×4H, T+L×N×H

	gatesRows, gatesFrames, gatesWords *tensor.Tensor // all, T·N and L·N rows of ×1×1×4H
	gatesLater                         *tensor.Tensor // all rows but those of the first step
	framesFlat, wordsFlat              *tensor.Tensor // T·N×4H, L·N×4H
	hRows, hEarlier                    *tensor.Tensor // all rows of ×1×1×H, and all but those of the last step
	hWords                             *tensor.Tensor // L·N×H
}

// host is what a batch is laid out in before it is uploaded: views of memory that all plans share.
type host struct {
	features                []float32
	missing, frameKeys      []int32
	previous, row, wordKeys []int32
	target, at, rowKeys     []int32
	losses                  []float32
}

// rounded is what the number of words is rounded up to, so that few shapes of batches occur.
const rounded = 32

// maxPlans bounds the shapes whose views are kept.
const maxPlans = 4096

// capacity is what the buffers hold, in rows.
type capacity struct{ frames, words, said int }

// memory is the whole buffers, at capacity, without shape.
type memory struct {
	features, embedded, dembedded, seen, dseen, scratch *tensor.Tensor
	lower, upper                                        [3]*tensor.Tensor // gates, h, c
	dh, said, dsaid, losses                             *tensor.Tensor
	ints, still                                         *tensor.Tensor

	hostFloats []float32
	hostInts   []int32
	hostLosses []float32
}

// planFor returns the buffers for a batch. A batch larger than any before moves them; asking again for a
// known shape allocates nothing.
func (n *Net) planFor(b *Batch) (*plan, error) {
	key := planKey{frames: n.longest(b.Features), clips: len(b.Captions), words: (b.Words() + rounded - 1) / rounded * rounded}
	for _, words := range b.Captions {
		key.steps = max(key.steps, len(words)+1)
	}
	return n.planOf(key)
}

// planOf is planFor of a shape.
func (n *Net) planOf(key planKey) (*plan, error) {
	if p, ok := n.plans[key]; ok {
		return p, nil
	}
	has, need := n.capacity, capacity{key.frames * key.clips, key.steps * key.clips, key.words}
	if need.frames > has.frames || need.words > has.words || need.said > has.said {
		if err := n.grow(capacity{max(need.frames, has.frames), max(need.words, has.words), max(need.said, has.said)}); err != nil {
			return nil, fmt.Errorf("s2vt: cannot hold a batch of %d clips of %d frames with captions of %d words: lower the batch size: %w", key.clips, key.frames, key.steps, err)
		}
	}
	if len(n.plans) >= maxPlans {
		clear(n.plans)
	}
	p, err := n.view(key)
	if err != nil {
		return nil, err
	}
	n.plans[key] = p
	return p, nil
}

func (n *Net) grow(to capacity) error {
	if err := n.buffers.Close(); err != nil {
		return err
	}
	clear(n.plans)
	n.capacity, n.memory = capacity{}, memory{}
	c, m, steps := n.config, memory{}, to.frames+to.words
	gates := 4 * c.Hidden
	ints := 2*to.frames + 3*to.words + 3*to.said
	for _, x := range []struct {
		at    **tensor.Tensor
		dtype tensor.DType
		size  int
	}{
		{&m.features, tensor.Float32, to.frames * c.Features}, {&m.embedded, tensor.Float32, to.frames * c.Embedding},
		{&m.dembedded, tensor.Float32, to.frames * c.Embedding},
		{&m.seen, tensor.Float32, to.words * c.Words}, {&m.dseen, tensor.Float32, to.words * c.Words},
		{&m.scratch, tensor.Float32, max(to.frames, to.words) * gates}, {&m.dh, tensor.Float32, steps * c.Hidden},
		{&m.lower[0], tensor.Float32, steps * gates}, {&m.lower[1], tensor.Float32, steps * c.Hidden}, {&m.lower[2], tensor.Float32, steps * c.Hidden},
		{&m.upper[0], tensor.Float32, steps * gates}, {&m.upper[1], tensor.Float32, steps * c.Hidden}, {&m.upper[2], tensor.Float32, steps * c.Hidden},
		{&m.said, tensor.Float32, to.said * c.Hidden}, {&m.dsaid, tensor.Float32, to.said * c.Hidden}, {&m.losses, tensor.Float32, to.said},
		{&m.ints, tensor.Int32, ints}, {&m.still, tensor.Int32, to.words},
	} {
		var err error
		if *x.at, err = n.buffers.Alloc(x.dtype, x.size); err != nil {
			return errors.Join(err, n.buffers.Close())
		}
	}
	m.hostFloats, m.hostInts, m.hostLosses = make([]float32, to.frames*c.Features), make([]int32, ints), make([]float32, to.said)
	n.capacity, n.memory = to, m
	return nil
}

// upload sends what a batch was laid out in.
func (p *plan) upload(device tensor.Device) error {
	if err := device.Upload(p.features, p.featuresIn); err != nil {
		return err
	}
	return device.Upload(p.ints, p.intsIn)
}

// viewer cuts views and keeps the first error.
type viewer struct{ err error }

// of views the start of a buffer in a shape.
func (v *viewer) of(t *tensor.Tensor, shape ...int) *tensor.Tensor {
	if v.err != nil {
		return nil
	}
	size, err := tensor.Elements(shape)
	if err != nil {
		v.err = err
		return nil
	}
	if t.Rank() > 1 {
		t, v.err = t.Reshape(t.Len())
	}
	return v.shaped(v.rows(t, 0, size), shape...)
}

func (v *viewer) shaped(t *tensor.Tensor, shape ...int) (view *tensor.Tensor) {
	if v.err != nil {
		return nil
	}
	view, v.err = t.Reshape(shape...)
	return view
}

// row views a row of a matrix.
func (v *viewer) row(t *tensor.Tensor, i int) *tensor.Tensor {
	if v.err != nil {
		return nil
	}
	return v.shaped(v.rows(t, i, i+1), t.Dim(1))
}

func (v *viewer) rows(t *tensor.Tensor, lo, hi int) (view *tensor.Tensor) {
	if v.err != nil {
		return nil
	}
	view, v.err = t.Rows(lo, hi)
	return view
}

func (n *Net) view(k planKey) (*plan, error) {
	m, c, v := &n.memory, n.config, &viewer{}
	f, w := k.frames*k.clips, k.steps*k.clips
	gates := 4 * c.Hidden
	p := &plan{planKey: k,
		features: v.of(m.features, f, 1, 1, c.Features),
		embedded: v.of(m.embedded, f, 1, 1, c.Embedding), dembedded: v.of(m.dembedded, f, 1, 1, c.Embedding),
		seen: v.of(m.seen, w, 1, 1, c.Words), dseen: v.of(m.dseen, w, 1, 1, c.Words), product: v.of(m.scratch, w, 1, 1, gates), shut: v.of(m.scratch, f, gates),
		seenRows: v.of(m.seen, w, c.Words), dseenRows: v.of(m.dseen, w, c.Words),
		said: v.of(m.said, k.words, c.Hidden), dsaid: v.of(m.dsaid, k.words, c.Hidden), losses: v.of(m.losses, k.words),
		still: v.of(m.still, w),
		dh:    v.of(m.dh, k.frames+k.steps, k.clips, c.Hidden), dhRows: v.of(m.dh, f+w, 1, 1, c.Hidden),
	}
	p.lower, p.upper = v.layer(m.lower, k, c.Hidden), v.layer(m.upper, k, c.Hidden)
	p.dhFrames, p.dhWords = v.rows(p.dh, 0, k.frames), v.shaped(v.rows(p.dhRows, f, f+w), w, c.Hidden)
	p.viewInts(m, v)
	if v.err != nil {
		return nil, v.err
	}
	p.host.features, p.host.losses = m.hostFloats[:f*c.Features], m.hostLosses[:k.words]
	p.featuresIn, p.lossesOut = tensor.HostArray(tensor.Float32, p.host.features), tensor.HostArray(tensor.Float32, p.host.losses)
	return p, nil
}

// layer views the buffers of an LSTM.
func (v *viewer) layer(m [3]*tensor.Tensor, k planKey, hidden int) layer {
	steps, f, w := k.frames+k.steps, k.frames*k.clips, k.steps*k.clips
	l := layer{gates: v.of(m[0], steps, k.clips, 4*hidden), h: v.of(m[1], steps, k.clips, hidden), c: v.of(m[2], steps, k.clips, hidden),
		gatesRows: v.of(m[0], f+w, 1, 1, 4*hidden), hRows: v.of(m[1], f+w, 1, 1, hidden)}
	l.gatesFrames, l.gatesWords = v.rows(l.gatesRows, 0, f), v.rows(l.gatesRows, f, f+w)
	l.gatesLater, l.hEarlier = v.rows(l.gatesRows, k.clips, f+w), v.rows(l.hRows, 0, f+w-k.clips)
	l.framesFlat = v.shaped(l.gatesFrames, f, 4*hidden)
	l.wordsFlat, l.hWords = v.shaped(l.gatesWords, w, 4*hidden), v.shaped(v.rows(l.hRows, f, f+w), w, hidden)
	return l
}

// viewInts cuts what a batch has of integers out of one buffer, which is uploaded as a whole.
func (p *plan) viewInts(m *memory, v *viewer) {
	f, w, at := p.frames*p.clips, p.steps*p.clips, 0
	h := &p.host
	for _, x := range []struct {
		device **tensor.Tensor
		host   *[]int32
		size   int
	}{
		{&p.missing, &h.missing, f}, {&p.frameKeys, &h.frameKeys, f},
		{&p.previous, &h.previous, w}, {&p.row, &h.row, w}, {&p.wordKeys, &h.wordKeys, w},
		{&p.target, &h.target, p.words}, {&p.at, &h.at, p.words}, {&p.rowKeys, &h.rowKeys, p.words},
	} {
		*x.device, *x.host = v.rows(m.ints, at, at+x.size), m.hostInts[at:at+x.size]
		at += x.size
	}
	p.ints = v.rows(m.ints, 0, at)
	p.intsIn = dense.New(dense.WithShape(at), dense.WithBacking(m.hostInts[:at:at]))
}
