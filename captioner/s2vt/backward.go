package s2vt

import (
	"cmp"
	"fmt"

	"nmn/kernels/conv"
	"nmn/kernels/tensor"
)

// Place lays out a batch and uploads it. All work uses this batch until the next one is placed. The seed selects the
// masks of dropout, together with the samples of the batch; it should change every epoch.
func (n *Net) Place(b *Batch, dropoutSeed uint64) (Work, error) {
	if n.all[0].G == nil {
		return Work{}, fmt.Errorf("s2vt: a step without gradients: call Learn first")
	}
	if err := n.check(b); err != nil {
		return Work{}, err
	}
	b = n.arranged(b)
	p, err := n.planFor(b)
	if err != nil {
		return Work{}, err
	}
	p.learns = true
	p.ragged = n.layFrames(p.host.features, p.host.missing, b.Features)
	p.layWords(b)
	if n.config.Dropout > 0 {
		p.layKeys(b, n.config.Features)
		if err := n.seeds.Upload(n.backend, dropoutSeed); err != nil {
			return Work{}, wrapped(err)
		}
	}
	n.forget()
	return Work{p, n.memory.norm, p.ragged}, p.upload(n.backend)
}

// Enqueue computes the losses of the words of the batch that has been placed, and the gradients of all parameters.
// It neither uploads nor waits: a device may record it, once for all batches whose Work is equal.
func (n *Net) Enqueue(w Work) error {
	if err := n.forward(w.plan); err != nil {
		return err
	}
	return cmp.Or(n.say(w), n.backward(w.plan))
}

// Wait waits for the losses and returns the loss, and what has been written to the Norm of the work. The loss is summed
// over the words of a caption, EOS among them, and averaged over the captions of the batch, in nats. Place, Enqueue and
// Wait allocate nothing once they have seen the shape of a batch.
func (n *Net) Wait(w Work) (loss, norm float64, err error) {
	p := w.plan
	if err := n.backend.Download(p.resultsOut, p.results); err != nil {
		return 0, 0, err
	}
	for _, l := range p.host.results[ahead:] {
		loss += float64(l)
	}
	return loss / float64(p.clips), float64(p.host.results[0]), nil
}

// say computes the losses of all words, and the gradients of the states that generate them and of the last
// layer.
func (n *Net) say(w Work) error {
	p := w.plan
	return n.backend.CrossEntropy(p.losses, p.doutputs, n.p.outW.G, n.p.outB.G, p.outputs, n.p.outW.W,
		n.p.outB.W, p.target, 1/float32(p.clips))
}

// backward propagates the gradient of the states that generate words to all other parameters.
func (n *Net) backward(p *plan) error {
	return cmp.Or(n.dropGrad(p.doutputs, p.rowKeys, outputSite),
		n.backend.Zero(p.dhFrames), // no word is said while frames are seen
		n.backend.Embed(p.dhWords, p.doutputs, p.row),
		n.backwardLSTM(p, &p.upper, n.p.lstm2),
		n.backwardUpper(p),
		n.backwardLSTM(p, &p.lower, n.p.lstm1),
		n.backwardLower(p))
}

// backwardLSTM turns the gates of a layer into their gradients, from dh of its states, and computes the
// gradients of its own parameters.
func (n *Net) backwardLSTM(p *plan, l *layer, own lstm) error {
	dcLast, err := n.backwardTail(p, l, own)
	if err != nil {
		return err
	}
	if err := cmp.Or(n.backend.LSTMGrad(l.gates, p.dh, l.c, own.wh.W, nil, dcLast, nil, nil),
		n.backend.ConvGradFilter(own.wh.filterG, l.hEarlier, l.gatesLater, conv.Params{})); err != nil {
		return err
	}
	if t := l.tail; t != nil {
		if err := n.backend.ConvGradFilter(own.wh.filterG, t.hEarlier, t.gatesLater,
			conv.Params{Accumulate: true}); err != nil {
			return err
		}
	}
	return n.backend.ConvGradBias(own.b.G, l.gatesRows, conv.Params{})
}

// backwardUpper goes from the gates of LSTM 2 to the states of LSTM 1 and to the words.
func (n *Net) backwardUpper(p *plan) error {
	u := &p.upper
	return cmp.Or(n.backend.ConvGradFilter(n.p.wx2h1.filterG, p.lower.hRows, u.gatesRows, conv.Params{}),
		n.backend.ConvGradFilter(n.p.wx2word.filterG, p.seen, u.gatesWords, conv.Params{}),
		n.backend.ConvGradData(p.dseen, u.gatesWords, n.p.wx2word.filter, nil, conv.Params{}),
		n.dropGrad(p.dseen, p.wordKeys, wordSite),
		n.backend.EmbedGrad(n.p.word.G, p.dseenRows, p.previous),
		n.backend.ConvGradData(p.dhRows, u.gatesRows, n.p.wx2h1.filter, nil, conv.Params{}))
}

// backwardLower goes from the gates of LSTM 1 to the layer that embeds features.
func (n *Net) backwardLower(p *plan) error {
	l := &p.lower
	return cmp.Or(n.backend.ConvGradFilter(n.p.wx1.filterG, p.embedded, l.gatesFrames, conv.Params{}),
		n.backend.ConvGradData(p.dembedded, l.gatesFrames, n.p.wx1.filter, nil, conv.Params{}),
		n.dropGrad(p.dembedded, p.frameKeys, frameSite),
		n.backend.ConvGradFilter(n.p.embedW.filterG, p.features, p.dembedded, conv.Params{}),
		n.backend.ConvGradBias(n.p.embedB.G, p.dembedded, conv.Params{}))
}

// Work is what Enqueue does with a batch: batches of one shape are the same calls on the same memory, and their
// Work is equal, until a batch that is larger than what Reserve has made room for moves the memory.
type Work struct {
	plan   *plan
	norm   *tensor.Tensor
	ragged bool
}

// String names the work in messages.
func (w Work) String() string {
	return fmt.Sprintf("gradients of %d captions of up to %d words of %d frames", w.plan.clips, w.plan.steps-1,
		w.plan.frames)
}

// Norm is one float32 on the device, for the norm of the gradients, which Wait downloads together with the losses.
// It is the same for all shapes, until the memory moves.
func (w Work) Norm() *tensor.Tensor { return w.norm }

// Size is what batches may be as large as.
type Size struct {
	Clips  int // with a caption each
	Frames int // of the longest clip
	Words  int // of the longest caption, without EOS
	Said   int // of all captions together, with an EOS for each
}

// Reserve makes room for all batches up to a size, so that memory does not move while a net is trained.
func (n *Net) Reserve(s Size) error {
	steps := s.Words + 1 // a batch of shorter captions may be rounded up further than the largest, but by less than a part
	return n.hold(planKey{frames: s.Frames, steps: steps, clips: s.Clips,
		words: roundedWords(s.Said, steps, s.Clips) + part(steps, s.Clips)})
}
