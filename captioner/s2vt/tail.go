package s2vt

import (
	"cmp"
	"slices"

	"nmn/kernels/tensor"
)

// tail is the last steps of a batch, in which at most clips clips still have words. Clips are sorted by the
// length of their captions, and the rows of finished clips are left out of these steps, because few captions
// are as long as the longest. Steps is 0 if no rows are left out.
type tail struct{ steps, clips int }

// tailOf chooses the tail that saves the most rows, if these are worth a second start of the LSTMs. A graphics card,
// which looks for the best way to compute each shape of batch, has none.
func (n *Net) tailOf(b *Batch, frames int) (best tail) {
	if n.wide {
		return best
	}
	n.lengths = n.lengths[:0]
	for _, words := range b.Captions {
		n.lengths = append(n.lengths, len(words)+1)
	}
	slices.Sort(n.lengths)
	count := len(n.lengths)
	longest := n.lengths[count-1]
	saved := (frames + longest) * count / 16
	for _, part := range []int{4, 2} {
		clips := ceilTo((count+part-1)/part, 4)
		if clips >= count {
			continue
		}
		t := tail{steps: longest - n.lengths[count-1-clips], clips: clips}
		if rows := t.steps * (count - clips); t.steps > 1 && rows > saved {
			best, saved = t, rows
		}
	}
	return best
}

// arranged returns the batch with the longest captions first if it has a tail. It is valid until the next
// batch.
func (n *Net) arranged(b *Batch) *Batch {
	if n.tailOf(b, n.longest(b.Features)).steps == 0 {
		return b
	}
	n.order = n.order[:0]
	for i := range b.Captions {
		n.order = append(n.order, i)
	}
	slices.SortStableFunc(n.order, func(i, j int) int { return cmp.Compare(len(b.Captions[j]), len(b.Captions[i])) })
	a := &n.arrangement
	a.Features, a.Captions, a.Samples = a.Features[:0], a.Captions[:0], a.Samples[:0]
	for _, i := range n.order {
		a.Features, a.Captions = append(a.Features, b.Features[i]), append(a.Captions, b.Captions[i])
		if len(b.Samples) > 0 {
			a.Samples = append(a.Samples, b.Samples[i])
		}
	}
	return a
}

// forget does not keep the caller's memory alive.
func (n *Net) forget() {
	clear(n.arrangement.Features)
	clear(n.arrangement.Captions)
}

// head is the number of word steps of all clips.
func (k planKey) head() int { return k.steps - k.tail.steps }

// places is the number of rows of words.
func (k planKey) places() int { return k.head()*k.clips + k.tail.steps*k.tail.clips }

// living is the number of clips that have a row in word step l, and place the row of the first.
func (k planKey) living(l int) (clips, place int) {
	if head := k.head(); l >= head {
		return k.tail.clips, head*k.clips + (l-head)*k.tail.clips
	}
	return k.clips, l * k.clips
}

// layerTail is a layer in the tail of a batch: it goes on from the states of the clips in the step before.
type layerTail struct {
	gates, h, c          *tensor.Tensor // steps × clips × 4H or H
	h0, c0               *tensor.Tensor // clips × H, in the step before
	hEarlier, gatesLater *tensor.Tensor // rows of all steps but the last, and but the first
}

// planTail are the gradients of a tail.
type planTail struct {
	dh     *tensor.Tensor // steps × clips × H
	dhLast *tensor.Tensor // clips × H, in the step before
	dh0    *tensor.Tensor // clips × H: what the tail adds to it
	carry  *tensor.Tensor // N × H: gradient of the cells in the step before; dc0 is that of the clips of the tail
	dc0    *tensor.Tensor
}

// viewTail views the tail of a layer, whose other rows end at a row.
func (v *viewer) viewTail(c *tensor.Tensor, l *layer, k planKey, end, hidden int) {
	t, all := k.tail, end+k.tail.steps*k.tail.clips
	before := end - k.clips
	cRows := v.Start(c, all, 1, 1, hidden)
	l.tail = &layerTail{
		gates:      v.Shaped(v.Rows(l.gatesRows, end, all), t.steps, t.clips, 4*hidden),
		h:          v.Shaped(v.Rows(l.hRows, end, all), t.steps, t.clips, hidden),
		c:          v.Shaped(v.Rows(cRows, end, all), t.steps, t.clips, hidden),
		h0:         v.Shaped(v.Rows(l.hRows, before, before+t.clips), t.clips, hidden),
		c0:         v.Shaped(v.Rows(cRows, before, before+t.clips), t.clips, hidden),
		hEarlier:   v.Rows(l.hRows, end, all-t.clips),
		gatesLater: v.Rows(l.gatesRows, end+t.clips, all),
	}
}

// viewTail views the gradients of a tail; the scratch memory is free on the way back.
func (p *plan) viewTail(m *memory, v *viewer, end, hidden int) {
	t, all, before := p.planKey.tail, end+p.planKey.tail.steps*p.planKey.tail.clips, end-p.clips
	scratch := v.Start(m.scratch, 2*p.clips, hidden)
	p.tail = &planTail{
		dh:     v.Shaped(v.Rows(p.dhRows, end, all), t.steps, t.clips, hidden),
		dhLast: v.Shaped(v.Rows(p.dhRows, before, before+t.clips), t.clips, hidden),
		carry:  v.Rows(scratch, 0, p.clips), dc0: v.Rows(scratch, 0, t.clips),
		dh0: v.Rows(scratch, p.clips, p.clips+t.clips),
	}
}

// runLSTM runs a layer whose gates already have their input from below.
func (n *Net) runLSTM(l *layer, own lstm) error {
	if err := n.backend.LSTM(l.h, l.c, l.gates, own.wh.W, nil, nil); err != nil || l.tail == nil {
		return err
	}
	t := l.tail
	return n.backend.LSTM(t.h, t.c, t.gates, own.wh.W, t.h0, t.c0)
}

// backwardTail turns the gates of the tail into their gradients, and adds to the gradients of the step
// before. It returns the gradient of the cells there, or nil without a tail.
func (n *Net) backwardTail(p *plan, l *layer, own lstm) (*tensor.Tensor, error) {
	if l.tail == nil {
		return nil, nil
	}
	t := p.tail
	return t.carry, cmp.Or(n.backend.Zero(t.carry),
		n.backend.LSTMGrad(l.tail.gates, t.dh, l.tail.c, own.wh.W, l.tail.c0, nil, t.dh0, t.dc0),
		n.backend.Add(t.dhLast, t.dh0))
}
