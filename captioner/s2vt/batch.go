package s2vt

import (
	"fmt"

	"nmn/internal/rng"
	"nmn/kernels/tensor"
)

// Batch is clips with a caption each. The net keeps no reference to it.
type Batch struct {
	// Features of each clip, frame by frame: 1 to Config.Frames times Config.Features of them.
	Features [][]float32
	// Captions are word ids, without BOS and EOS.
	Captions [][]int32
	// Samples are numbers that dropout masks are drawn by, one for each caption; they do not matter without
	// dropout.
	Samples []int
}

// Words is the number of words to generate, with an EOS for each caption.
func (b *Batch) Words() int {
	words := len(b.Captions)
	for _, caption := range b.Captions {
		words += len(caption)
	}
	return words
}

// check refuses a batch that does not fit the net.
func (n *Net) check(b *Batch) error {
	if len(b.Features) == 0 || len(b.Captions) != len(b.Features) {
		return fmt.Errorf("s2vt: a batch of %d clips with %d captions: want one for each, and at least one: %w",
			len(b.Features), len(b.Captions), tensor.ErrShape)
	}
	if n.config.Dropout > 0 && len(b.Samples) != len(b.Captions) {
		return fmt.Errorf("s2vt: %d sample numbers for %d captions: dropout needs one for each: %w",
			len(b.Samples), len(b.Captions), tensor.ErrShape)
	}
	for i, words := range b.Captions {
		if len(words) == 0 {
			return fmt.Errorf("s2vt: caption %d of the batch has no words", i)
		}
		for _, w := range words {
			if w < Reserved || int(w) >= n.config.Vocabulary {
				return fmt.Errorf("s2vt: caption %d of the batch has word %d, want %d to %d",
					i, w, Reserved, n.config.Vocabulary-1)
			}
		}
	}
	return n.checkClips(b.Features)
}

// checkClips names the first clip that does not fit the net.
func (n *Net) checkClips(clips [][]float32) error {
	c := n.config
	for i, features := range clips {
		if len(features) == 0 || len(features)%c.Features != 0 || len(features) > c.Frames*c.Features {
			return fmt.Errorf("s2vt: clip %d of the batch has %d features, want 1 to %d frames of %d: %w",
				i, len(features), c.Frames, c.Features, tensor.ErrShape)
		}
	}
	return nil
}

// longest is the largest number of frames of a clip.
func (n *Net) longest(clips [][]float32) int {
	frames := 0
	for _, features := range clips {
		frames = max(frames, len(features)/n.config.Features)
	}
	return frames
}

// layFrames writes the frames of clips step by step, T×N×F, and marks in missing, T×N, the steps before the
// first frame of a clip by 0 and all others by -1. It reports whether there are any.
func (n *Net) layFrames(dst []float32, missing []int32, clips [][]float32) (ragged bool) {
	width, count, frames := n.config.Features, len(clips), n.longest(clips)
	for i, features := range clips {
		late := frames - len(features)/width
		for t := range frames {
			row := t*count + i
			to := dst[row*width : (row+1)*width]
			if t < late {
				clear(to)
				missing[row], ragged = 0, true
				continue
			}
			copy(to, features[(t-late)*width:])
			missing[row] = -1
		}
	}
	return ragged
}

// layWords writes the words of a batch step by step. Of each step and caption: previous is the word that is
// seen and row the place of the word that is to be said among all of them, both -1 after the caption's end.
// Of each word to be said: target is the word and at its step and caption; both are -1 in the rows that round
// their number up.
func (p *plan) layWords(b *Batch) {
	m := 0
	for l := range p.steps {
		clips, first := p.living(l)
		for i, words := range b.Captions[:clips] {
			place := first + i
			p.host.previous[place], p.host.row[place] = -1, -1
			if l > len(words) {
				continue
			}
			p.host.previous[place], p.host.target[m] = BOS, EOS
			if l > 0 {
				p.host.previous[place] = words[l-1]
			}
			if l < len(words) {
				p.host.target[m] = words[l]
			}
			p.host.row[place], p.host.at[m] = int32(m), int32(place)
			m++
		}
	}
	for ; m < p.words; m++ {
		p.host.target[m], p.host.at[m] = -1, -1
	}
}

// layKeys draws the keys of dropout: of each sample and step one, whatever batch the sample comes in and
// wherever it stands there.
func (p *plan) layKeys(b *Batch, features int) {
	count := len(b.Samples)
	for i, sample := range b.Samples {
		late := p.frames - len(b.Features[i])/features
		for t := range p.frames {
			p.host.frameKeys[t*count+i] = key(sample, t-late, 0)
		}
		for l := range p.steps {
			clips, first := p.living(l)
			if i >= clips {
				break
			}
			place := first + i
			p.host.wordKeys[place] = key(sample, l, 1)
			if m := p.host.row[place]; m >= 0 {
				p.host.rowKeys[m] = key(sample, l, 2)
			}
		}
	}
}

// key mixes its numbers to 32 bits.
func key(sample, step, site int) int32 {
	b := rng.Block([4]uint32{uint32(sample), uint32(uint64(sample) >> 32), uint32(step), uint32(site)}, [2]uint32{})
	return int32(b[0])
}
