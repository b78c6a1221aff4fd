package s2vt

import (
	"cmp"

	"nmn/kernels/conv"
	"nmn/kernels/tensor"
)

// forward computes the states that generate words from the batch in a plan.
func (n *Net) forward(p *plan) error {
	u := &p.upper
	return cmp.Or(n.embedFrames(p), n.embedWords(p), n.runLower(p), n.upperGates(p), n.addWords(p),
		n.runLSTM(u, n.p.lstm2),
		n.backend.Embed(p.outputs, u.hWords, p.at), // leaves out what says no word
		n.drop(p, p.outputs, p.rowKeys, outputSite))
}

// embedFrames brings features to what LSTM 1 sees.
func (n *Net) embedFrames(p *plan) error {
	return cmp.Or(n.backend.Conv(p.embedded, p.features, n.p.embedW.filter, n.p.embedB.W, conv.Params{}),
		n.drop(p, p.embedded, p.frameKeys, frameSite))
}

// embedWords brings words to what LSTM 2 sees.
func (n *Net) embedWords(p *plan) error {
	return cmp.Or(n.backend.Embed(p.seenRows, n.p.word.W, p.previous), n.drop(p, p.seen, p.wordKeys, wordSite))
}

// runLower runs LSTM 1 over all steps.
func (n *Net) runLower(p *plan) error {
	return cmp.Or(n.lowerGates(p), n.runLSTM(&p.lower, n.p.lstm1))
}

// lowerGates computes what LSTM 1 gets from below: while words are said that is the bias alone.
func (n *Net) lowerGates(p *plan) error {
	l := &p.lower
	if err := n.backend.Conv(l.gatesFrames, p.embedded, n.p.wx1.filter, n.p.lstm1.b.W, conv.Params{}); err != nil {
		return err
	}
	if p.ragged {
		if err := cmp.Or(n.backend.Embed(p.shut, n.shut, p.missing), n.backend.Add(l.framesFlat, p.shut)); err != nil {
			return err
		}
	}
	return n.backend.Embed(l.wordsFlat, n.lowerBias, p.still)
}

// upperGates computes what LSTM 2 gets from LSTM 1, at all steps.
func (n *Net) upperGates(p *plan) error {
	u := &p.upper
	if err := n.backend.Conv(u.gatesRows, p.lower.hRows, n.p.wx2h1.filter, n.p.lstm2.b.W, conv.Params{}); err != nil {
		return err
	}
	if !p.ragged {
		return nil
	}
	return n.backend.Add(u.framesFlat, p.shut)
}

// addWords computes what LSTM 2 gets from the words that it sees.
func (n *Net) addWords(p *plan) error {
	return cmp.Or(n.backend.Conv(p.product, p.seen, n.p.wx2word.filter, nil, conv.Params{}),
		n.backend.Add(p.upper.gatesWords, p.product))
}

// drop applies dropout to the rows of a tensor of a plan in training.
func (n *Net) drop(p *plan, x, keys *tensor.Tensor, s site) error {
	if n.config.Dropout == 0 || !p.learns {
		return nil
	}
	return n.backend.Dropout(x, x, keys, n.seeds.Of[s], float32(n.config.Dropout))
}

// dropGrad goes back through drop.
func (n *Net) dropGrad(dx, keys *tensor.Tensor, s site) error {
	if n.config.Dropout == 0 {
		return nil
	}
	return n.backend.DropoutGrad(dx, dx, keys, n.seeds.Of[s], float32(n.config.Dropout))
}

// site is a place with dropout in the net.
type site int

const (
	frameSite  site = iota // input of LSTM 1
	wordSite               // words that LSTM 2 sees
	outputSite             // output of LSTM 2
)

// sitePurpose keeps the masks of the sites apart.
var sitePurpose = []string{frameSite: "s2vt/frame", wordSite: "s2vt/word", outputSite: "s2vt/said"}
