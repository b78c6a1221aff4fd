package s2vt

import (
	"errors"

	"nmn/kernels/tensor"
	"nmn/model/param"

	dense "gorgonia.org/tensor"
)

// viewer cuts views and keeps the first error.
type viewer struct{ param.Views }

func (n *Net) view(k planKey) (*plan, error) {
	m, c, v := &n.memory, n.config, &viewer{}
	f, w := k.frames*k.clips, k.places()
	gates := 4 * c.Hidden
	p := &plan{
		planKey:   k,
		features:  v.Start(m.features, f, 1, 1, c.Features),
		embedded:  v.Start(m.embedded, f, 1, 1, c.Embedding),
		dembedded: v.Start(m.dembedded, f, 1, 1, c.Embedding),
		seen:      v.Start(m.seen, w, 1, 1, c.Words),
		dseen:     v.Start(m.dseen, w, 1, 1, c.Words),
		product:   v.Start(m.scratch, w, 1, 1, gates),
		shut:      v.Start(m.scratch, f, gates),
		seenRows:  v.Start(m.seen, w, c.Words),
		dseenRows: v.Start(m.dseen, w, c.Words),
		outputs:   v.Start(m.outputs, k.words, c.Hidden),
		doutputs:  v.Start(m.doutputs, k.words, c.Hidden),
		results:   v.Start(m.results, ahead+k.words),
		still:     v.Start(m.still, w),
		dh:        v.Start(m.dh, k.frames+k.head(), k.clips, c.Hidden),
		dhRows:    v.Start(m.dh, f+w, 1, 1, c.Hidden),
	}
	p.lower, p.upper = v.layer(m.lower, k, c.Hidden), v.layer(m.upper, k, c.Hidden)
	p.dhFrames, p.dhWords = v.Rows(p.dh, 0, k.frames), v.Shaped(v.Rows(p.dhRows, f, f+w), w, c.Hidden)
	p.losses = v.Rows(p.results, ahead, ahead+k.words)
	if k.tail.steps > 0 {
		p.viewTail(m, v, (k.frames+k.head())*k.clips, c.Hidden)
	}
	p.viewInts(m, v)
	if v.Err != nil {
		return nil, v.Err
	}
	p.host.features, p.host.results = m.hostFloats[:f*c.Features], m.hostResults[:ahead+k.words]
	p.featuresIn, p.resultsOut = tensor.HostArray(tensor.Float32, p.host.features),
		tensor.HostArray(tensor.Float32, p.host.results)
	return p, nil
}

// layer views the buffers of an LSTM.
func (v *viewer) layer(m [3]*tensor.Tensor, k planKey, hidden int) layer {
	steps, f, w := k.frames+k.head(), k.frames*k.clips, k.places()
	end := steps * k.clips
	l := layer{
		gates:     v.Start(m[0], steps, k.clips, 4*hidden),
		h:         v.Start(m[1], steps, k.clips, hidden),
		c:         v.Start(m[2], steps, k.clips, hidden),
		gatesRows: v.Start(m[0], f+w, 1, 1, 4*hidden),
		hRows:     v.Start(m[1], f+w, 1, 1, hidden),
	}
	l.gatesFrames, l.gatesWords = v.Rows(l.gatesRows, 0, f), v.Rows(l.gatesRows, f, f+w)
	l.gatesLater, l.hEarlier = v.Rows(l.gatesRows, k.clips, end+k.tail.clips), v.Rows(l.hRows, 0, end-k.clips+k.tail.clips)
	l.framesFlat = v.Shaped(l.gatesFrames, f, 4*hidden)
	if k.tail.steps > 0 {
		v.viewTail(m[2], &l, k, end, hidden)
	}
	l.wordsFlat, l.hWords = v.Shaped(l.gatesWords, w, 4*hidden), v.Shaped(v.Rows(l.hRows, f, f+w), w, hidden)
	return l
}

// viewInts cuts the integers of a batch out of one buffer, which is uploaded as a whole.
func (p *plan) viewInts(m *memory, v *viewer) {
	f, w, at := p.frames*p.clips, p.places(), 0
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
		*x.device, *x.host = v.Rows(m.ints, at, at+x.size), m.hostInts[at:at+x.size]
		at += x.size
	}
	p.ints = v.Rows(m.ints, 0, at)
	p.intsIn = dense.New(dense.WithShape(at), dense.WithBacking(m.hostInts[:at:at]))
}

// capacity is the size of the buffers, in rows.
type capacity struct{ frames, words, outputs int }

// memory is the whole buffers, at capacity, without shape.
type memory struct {
	features, embedded, dembedded, seen, dseen, scratch *tensor.Tensor
	lower, upper                                        [3]*tensor.Tensor // gates, h, c
	dh, outputs, doutputs, results                      *tensor.Tensor
	norm                                                *tensor.Tensor // the first of results
	ints, still                                         *tensor.Tensor

	hostFloats  []float32
	hostInts    []int32
	hostResults []float32
}

// ahead is how many results stand before the losses: the norm of the gradients, and what brings the losses to a
// multiple of 16 bytes.
const ahead = 4

func (n *Net) grow(to capacity) error {
	if err := n.buffers.Close(); err != nil {
		return err
	}
	clear(n.plans)
	n.capacity, n.memory = capacity{}, memory{}
	c, m, steps := n.config, memory{}, to.frames+to.words
	gates := 4 * c.Hidden
	ints := 2*to.frames + 3*to.words + 3*to.outputs
	for _, x := range []struct {
		at    **tensor.Tensor
		dtype tensor.DType
		size  int
	}{
		{&m.features, tensor.Float32, to.frames * c.Features}, {&m.embedded, tensor.Float32, to.frames * c.Embedding},
		{&m.dembedded, tensor.Float32, to.frames * c.Embedding},
		{&m.seen, tensor.Float32, to.words * c.Words}, {&m.dseen, tensor.Float32, to.words * c.Words},
		{&m.scratch, tensor.Float32, max(to.frames, to.words) * gates}, {&m.dh, tensor.Float32, steps * c.Hidden},
		{&m.lower[0], tensor.Float32, steps * gates}, {&m.lower[1], tensor.Float32, steps * c.Hidden},
		{&m.lower[2], tensor.Float32, steps * c.Hidden},
		{&m.upper[0], tensor.Float32, steps * gates}, {&m.upper[1], tensor.Float32, steps * c.Hidden},
		{&m.upper[2], tensor.Float32, steps * c.Hidden},
		{&m.outputs, tensor.Float32, to.outputs * c.Hidden}, {&m.doutputs, tensor.Float32, to.outputs * c.Hidden},
		{&m.results, tensor.Float32, ahead + to.outputs},
		{&m.ints, tensor.Int32, ints}, {&m.still, tensor.Int32, to.words},
	} {
		var err error
		if *x.at, err = n.buffers.Alloc(x.dtype, x.size); err != nil {
			return errors.Join(err, n.buffers.Close())
		}
	}
	m.hostFloats, m.hostInts, m.hostResults = make([]float32, to.frames*c.Features), make([]int32, ints),
		make([]float32, ahead+to.outputs)
	var err error
	if m.norm, err = m.results.Rows(0, 1); err != nil {
		return errors.Join(err, n.buffers.Close())
	}
	n.capacity, n.memory = to, m
	return nil
}
