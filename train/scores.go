package train

import (
	"context"
	"errors"
	"fmt"
	"math"

	"nmn/kernels/tensor"
	"nmn/labels"
	"nmn/loader"
	"nmn/model"
	"nmn/ranks"

	dense "gorgonia.org/tensor"
)

// Scores are the predictions of a net for the bags of a set.
type Scores struct {
	// Index lists the bags of the rows: all readable bags of the set, in their order.
	Index []int
	// Bad lists the bags that could not be read, and the reasons.
	Bad []loader.BadSample
	// Logits is N×K of float32: the bag's log-odds of p(y=1|I), which distinguish probabilities that round to
	// 1. Prob is p(y=1|I), Observed p(z=1|I). Without a noise model they are equal.
	Logits, Prob, Observed *dense.Dense
	// Rates are the estimated transition rates of each class. A feature-independent noise model gives the
	// rates of its biases b, and a feature-dependent one the mean over the bags. It is nil without a noise
	// model.
	Rates *labels.Rates
	// Exclusive is set if each bag has exactly one class. Transition is then the matrix T of the noise model,
	// K×K with the row of the true class; nil for none.
	Exclusive  bool
	Transition []float32
}

// LogitsOf returns the logits of all bags of the set, bags×K. A bag that could not be read gets the mean of
// the other bags in each class.
func (s *Scores) LogitsOf(bags int) []float32 {
	logits := s.Logits.Float32s()
	if len(s.Index) == bags {
		return logits
	}
	k := s.Logits.Shape()[1]
	sums, all := make([]float64, k), make([]float32, bags*k)
	for i, x := range logits {
		sums[i%k] += float64(x)
	}
	for i := range all {
		all[i] = float32(sums[i%k] / float64(len(s.Index)))
	}
	for row, bag := range s.Index {
		copy(all[bag*k:(bag+1)*k], logits[row*k:])
	}
	return all
}

// Score runs a net over a set in order, in batches of config.BatchSize. It also uses config's Fit, Workers,
// Prefetch, MaxBadSamples and MaxPixels, and ignores the rest. It reads no labels. If the set is ByFrame, the
// bags of a batch and the unreadable bags are frames.
func Score(ctx context.Context, net *model.Net, set *loader.Set, config loader.Config) (*Scores, error) {
	return ScoreTogether(ctx, nil, net, set, config, nil)
}

// ScoreTogether is Score on the ranks of a group, nil for this process alone. Each rank scores a part of the
// batches, and one gathering at the end gives all scores to every rank, bit for bit equal to the scores of
// one process. An error of one rank is an error on all. scored, if not nil, is called with the number of bags
// of each batch of this rank.
func ScoreTogether(ctx context.Context, g ranks.Group, net *model.Net, set *loader.Set, config loader.Config,
	scored func(bags int)) (*Scores, error) {
	g = ranks.Of(g)
	s, read := newScorer(net, set.Len()), set
	s.rates.kept = g.Size() > 1
	var err error
	if set.ByFrame {
		read, s.videos, err = loader.Frames(ctx, set)
	}
	bags, bad := 0, []loader.BadSample(nil)
	if err == nil {
		bags, bad, err = inOrder(ctx, net, read, wholeBatches(g, config), s.outputs, func(batch *loader.Batch,
			values [][]float32) error {
			err := s.add(batch, values)
			if scored != nil {
				scored(batch.N)
			}
			return err
		})
	}
	if bad, err = gatherBad(g, read, config, bags, bad, err); err != nil {
		return nil, err
	}
	if err := s.gather(g, 0, nil); err != nil {
		return nil, err
	}
	return s.scores(bad)
}

// scorer collects rows.
type scorer struct {
	net                    *model.Net
	classes, capacity      int
	index                  []int
	logits, prob, observed []float32
	rates                  rateMean
	common                 int                // rows that all ranks have, the first ones
	videos                 *loader.FrameIndex // set if bags are scored by their frames, else nil
	list                   []*tensor.Tensor   // the tensors that outputs lists
}

func newScorer(net *model.Net, bags int) *scorer {
	s := newLogitScorer(net, bags)
	s.prob, s.observed = make([]float32, len(s.logits)), make([]float32, len(s.logits))
	return s
}

// newLogitScorer collects logits alone.
func newLogitScorer(net *model.Net, bags int) *scorer {
	k := net.Config().Classes
	return &scorer{net: net, classes: k, capacity: bags, index: make([]int, 0, bags), logits: make([]float32, bags*k),
		rates: newRateMean(k, false)}
}

// outputs lists the logits of a batch, its probabilities if they are collected, and its transition
// probabilities if there is a noise model.
func (s *scorer) outputs(p *model.Plan) ([]*tensor.Tensor, error) {
	s.list = append(s.list[:0], p.BagLogit)
	if s.prob != nil {
		s.list = append(s.list, p.Prob, p.Observed)
	}
	if s.net.HasRates() {
		s.list = append(s.list, p.Confidence)
	}
	return s.list, nil
}

// add takes the scores of one batch: the values of the tensors that outputs lists.
func (s *scorer) add(batch *loader.Batch, values [][]float32) error {
	if err := checkLogits(batch, values[0], s.classes); err != nil {
		return err
	}
	rows := s.collected()
	if s.videos != nil {
		s.addFrames(batch, values[:len(rows)])
	} else {
		from, to := len(s.index)*s.classes, (len(s.index)+batch.N)*s.classes
		if to > len(s.logits) {
			return fmt.Errorf("training: the loader gave more than the %d samples of the set", s.capacity)
		}
		for i, all := range rows {
			copy(all[from:to], values[i])
		}
		s.index = append(s.index, batch.Index...)
	}
	if len(values) == len(rows) {
		return nil // no noise model
	}
	return s.rates.add(s.net, values[len(rows)])
}

// checkLogits refuses NaN.
func checkLogits(batch *loader.Batch, logits []float32, classes int) error {
	for i, v := range logits {
		if math.IsNaN(float64(v)) {
			return fmt.Errorf("training: the logit of sample %s, class %d is NaN: the weights are damaged",
				batch.IDs[i/classes], i%classes)
		}
	}
	return nil
}

// collected returns the rows of all bags, in the order of outputs.
func (s *scorer) collected() [][]float32 {
	if s.prob == nil {
		return [][]float32{s.logits}
	}
	return [][]float32{s.logits, s.prob, s.observed}
}

// addFrames takes the scores of a batch of frames: a video gets the maximum of each over its frames, which
// follow each other.
func (s *scorer) addFrames(batch *loader.Batch, values [][]float32) {
	k := s.classes
	for n, frame := range batch.Index {
		video, _ := s.videos.Of(frame)
		first := len(s.index) == 0 || s.index[len(s.index)-1] != video
		if first {
			s.index = append(s.index, video)
		}
		row := (len(s.index) - 1) * k
		for i, all := range s.collected() {
			of, best := values[i][n*k:(n+1)*k], all[row:row+k]
			for c, v := range of {
				if first || v > best[c] {
					best[c] = v
				}
			}
		}
	}
}

func (s *scorer) scores(bad []loader.BadSample) (*Scores, error) {
	n, k := len(s.index), s.classes
	if n == 0 {
		return nil, errors.New("training: there is nothing to score")
	}
	matrix := func(values []float32) *dense.Dense {
		if values == nil {
			return nil
		}
		return dense.New(dense.WithShape(n, k), dense.WithBacking(values[:n*k:n*k]))
	}
	out := &Scores{Index: s.index, Bad: bad, Logits: matrix(s.logits), Prob: matrix(s.prob),
		Observed: matrix(s.observed), Rates: s.rates.mean(), Exclusive: s.net.Config().Exclusive}
	var err error
	out.Transition, err = s.net.Transition()
	return out, err
}

func hostOver(values []float32) *dense.Dense {
	return dense.New(dense.WithShape(len(values)), dense.WithBacking(values))
}

// rateMean averages the transition rates over bags.
type rateMean struct {
	miss, wrong []float64 // sums of q01 and q10 for each class
	bags        int
	kept        bool
	each        []float32 // if kept: q01 and q10 of each bag, for ranks that add them up in the order of the bags
}

func newRateMean(classes int, kept bool) rateMean {
	return rateMean{miss: make([]float64, classes), wrong: make([]float64, classes), kept: kept}
}

// add takes the transition probabilities of a batch. It takes probabilities that are equal for all bags once.
func (m *rateMean) add(net *model.Net, confidence []float32) error {
	if net.Config().Noise == model.FeatureIndependent && m.bags > 0 {
		return nil
	}
	return bagRates(confidence, net.Config().Classes, m.take)
}

func (m *rateMean) take(q01, q10 []float32) {
	for c := range q01 {
		m.miss[c] += float64(q01[c])
		m.wrong[c] += float64(q10[c])
	}
	m.bags++
	if m.kept {
		m.each = append(append(m.each, q01...), q10...)
	}
}

func (m *rateMean) mean() *labels.Rates {
	if m.bags == 0 {
		return nil
	}
	r := labels.NewRates(len(m.miss))
	for c := range m.miss {
		r.Q01[c], r.Q10[c] = m.miss[c]/float64(m.bags), m.wrong[c]/float64(m.bags)
	}
	return r
}
