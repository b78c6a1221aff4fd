package s2vt

import (
	"cmp"
	"errors"
	"fmt"

	"nmn/kernels/conv"
	"nmn/kernels/tensor"

	dense "gorgonia.org/tensor"
)

// hypothesis is the beginning of a caption, and one row of a step of decoding.
type hypothesis struct {
	clip    int
	parent  int     // row of the step before that it goes on from; the clip at the first step
	word    int32   // the last one, BOS at first
	logProb float64 // of all of its words
	words   []int32 // all of them, without BOS
}

// decoding generates words for the clips of a batch. LSTM 1 reads no words, so that its states are known for
// all steps before the first word. Only LSTM 2 and the words differ between the hypotheses of a clip.
type decoding struct {
	net     *Net
	plan    *plan
	rows    int // of the buffers
	buffers *tensor.Arena
	step    int // words said so far

	seen, gates, product *tensor.Tensor    // D, 4H and 4H for each row
	h, c                 [2]*tensor.Tensor // H for each row: states of LSTM 2 before and after the step
	logProbs             *tensor.Tensor    // V for each row
	ids                  *tensor.Tensor    // 3: words, parents, clips

	hostIDs      []int32
	hostLogProbs []float32
	never        []bool // words that are not said
}

// startDecoding sees the frames of clips. Close gives the buffers back.
func (n *Net) startDecoding(clips [][]float32, o BeamOptions) (*decoding, error) {
	if len(clips) == 0 {
		return nil, fmt.Errorf("s2vt: no clip to caption: %w", tensor.ErrShape)
	}
	if err := o.Validate(n.config.Vocabulary); err != nil {
		return nil, err
	}
	if err := n.checkClips(clips); err != nil {
		return nil, err
	}
	d := &decoding{
		net:     n,
		rows:    len(clips) * o.Width,
		buffers: tensor.NewArena(n.backend),
		never:   make([]bool, n.config.Vocabulary),
	}
	d.never[PAD], d.never[BOS] = true, true
	for _, w := range o.Never {
		d.never[w] = true
	}
	err := d.allocate()
	if err == nil {
		err = d.watch(clips, o.MaxLength)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("s2vt: cannot caption %d clips with a beam of %d: %w",
			len(clips), o.Width, err), d.close())
	}
	return d, nil
}

func (d *decoding) close() error { return d.buffers.Close() }

func (d *decoding) allocate() error {
	c, r := d.net.config, d.rows
	for _, x := range []struct {
		at    **tensor.Tensor
		dtype tensor.DType
		width int
	}{
		{&d.seen, tensor.Float32, c.Words}, {&d.gates, tensor.Float32, 4 * c.Hidden},
		{&d.product, tensor.Float32, 4 * c.Hidden},
		{&d.h[0], tensor.Float32, c.Hidden}, {&d.h[1], tensor.Float32, c.Hidden},
		{&d.c[0], tensor.Float32, c.Hidden}, {&d.c[1], tensor.Float32, c.Hidden},
		{&d.logProbs, tensor.Float32, c.Vocabulary}, {&d.ids, tensor.Int32, 3},
	} {
		var err error
		if *x.at, err = d.buffers.Alloc(x.dtype, r*x.width); err != nil {
			return err
		}
	}
	d.hostIDs, d.hostLogProbs = make([]int32, 3*r), make([]float32, r*c.Vocabulary)
	return nil
}

// watch runs LSTM 1 over frames and words, and LSTM 2 over the frames.
func (d *decoding) watch(clips [][]float32, steps int) error {
	n := d.net
	p, err := n.planOf(planKey{frames: n.longest(clips), steps: steps, clips: len(clips), words: rounded})
	if err != nil {
		return err
	}
	d.plan, p.learns = p, false
	p.ragged = n.layFrames(p.host.features, p.host.missing, clips)
	if err := p.upload(n.backend); err != nil {
		return err
	}
	if err := cmp.Or(n.embedFrames(p), n.runLower(p), n.upperGates(p)); err != nil {
		return err
	}
	v, u := &viewer{}, &p.upper
	h, c, gates := v.Rows(u.h, 0, p.frames), v.Rows(u.c, 0, p.frames), v.Rows(u.gates, 0, p.frames)
	if v.Err != nil {
		return v.Err
	}
	return n.backend.LSTM(h, c, gates, n.p.lstm2.wh.W, nil, nil)
}

// next gives the log-probabilities of the next word of hypotheses, V for each of them. It is overwritten by
// the next call.
func (d *decoding) next(live []hypothesis) ([]float32, error) {
	n, r := d.net, len(live)
	c, v := n.config, &viewer{}
	ids, host := v.Start(d.ids, 3, r), d.hostIDs[:3*r]
	for i, h := range live {
		host[i], host[r+i], host[2*r+i] = h.word, int32(h.parent), int32(h.clip)
	}
	words, parents, of := v.Row(ids, 0), v.Row(ids, 1), v.Row(ids, 2)
	seen, seenMap := v.Start(d.seen, r, c.Words), v.Start(d.seen, r, 1, 1, c.Words)
	gates, gatesMap := v.Start(d.gates, r, 4*c.Hidden), v.Start(d.gates, r, 1, 1, 4*c.Hidden)
	gatesStep, product := v.Start(d.gates, 1, r, 4*c.Hidden), v.Start(d.product, r, 1, 1, 4*c.Hidden)
	h0, c0 := v.Start(d.h[0], r, c.Hidden), v.Start(d.c[0], r, c.Hidden)
	h1, c1 := v.Start(d.h[1], 1, r, c.Hidden), v.Start(d.c[1], 1, r, c.Hidden)
	hMap, logits := v.Start(d.h[1], r, 1, 1, c.Hidden), v.Start(d.logProbs, r, 1, 1, c.Vocabulary)
	said := v.Start(d.logProbs, r, c.Vocabulary)
	hBefore, cBefore, fromBelow := d.before(v)
	if v.Err != nil {
		return nil, v.Err
	}
	if err := n.backend.Upload(ids, dense.New(dense.WithShape(3, r), dense.WithBacking(host))); err != nil {
		return nil, err
	}
	for _, gather := range [...]struct{ to, table, ids *tensor.Tensor }{
		{h0, hBefore, parents}, {c0, cBefore, parents}, {gates, fromBelow, of}, {seen, n.p.word.W, words},
	} {
		if err := n.backend.Embed(gather.to, gather.table, gather.ids); err != nil {
			return nil, err
		}
	}
	err := cmp.Or(n.backend.Conv(product, seenMap, n.p.wx2word.filter, nil, conv.Params{}), // one step of LSTM 2
		n.backend.Add(gatesMap, product),
		n.backend.LSTM(h1, c1, gatesStep, n.p.lstm2.wh.W, h0, c0),
		n.backend.Conv(logits, hMap, n.p.outW.filter, n.p.outB.W, conv.Params{}),
		n.backend.LogSoftmax(said))
	if err != nil {
		return nil, err
	}
	d.step++
	got := d.hostLogProbs[:r*c.Vocabulary]
	return got, n.backend.Download(tensor.HostArray(tensor.Float32, got), said)
}

// before are the states that the next step goes on from, and what LSTM 2 gets from below in it, for each
// clip.
func (d *decoding) before(v *viewer) (h, c, fromBelow *tensor.Tensor) {
	p, hidden := d.plan, d.net.config.Hidden
	at := (p.frames + d.step) * p.clips
	fromBelow = v.Shaped(v.Rows(p.upper.gatesRows, at, at+p.clips), p.clips, 4*hidden)
	if d.step > 0 {
		return v.Start(d.h[1], d.rows, hidden), v.Start(d.c[1], d.rows, hidden), fromBelow
	}
	last := func(t *tensor.Tensor) *tensor.Tensor {
		return v.Shaped(v.Rows(t, p.frames-1, p.frames), p.clips, hidden)
	}
	return last(p.upper.h), last(p.upper.c), fromBelow
}
