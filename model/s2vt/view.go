package s2vt

import (
	"nmn/kernels/tensor"

	dense "gorgonia.org/tensor"
)

// viewer cuts views and keeps the first error.
type viewer struct{ err error }

// of views the start of a buffer, which has one axis, in a shape.
func (v *viewer) of(t *tensor.Tensor, shape ...int) *tensor.Tensor {
	if v.err != nil {
		return nil
	}
	size, err := tensor.Elements(shape)
	if err != nil {
		v.err = err
		return nil
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
