package run

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"nmn/internal/memory"
	"nmn/kernels"
	"nmn/loader"
	"nmn/model"
	"nmn/train"
)

// What an automatic batch size goes by.
const (
	memoryShare = .8 // how much of the free memory a step may fill
	enoughSteps = 50 // how many steps an epoch keeps at least: larger batches teach less in as many epochs
	mostBags    = 1024
	fewestTried = 8
	fastEnough  = .95 // the share of the best speed from which a smaller batch is taken
	// A candidate is timed for at most candidateSteps steps, and starts none after candidateTime.
	candidateSteps = 4
	candidateTime  = 2 * time.Second
)

// batchChoice chooses the number of bags of a batch, among powers of two.
type batchChoice struct {
	fits   int // the most that memory holds; 0 where not even one is held
	allows int // the most with which an epoch has enough steps
	tried  []triedBatch
	chosen int
}

type triedBatch struct {
	bags  int
	speed float64 // bags a second
}

// choose times sizes from few bags on, each twice as large as the one before, until two of them were not faster than
// what there was by then, and takes the smallest that is about as fast as the fastest.
func (b *batchChoice) choose(measure func(bags int) (speed float64, err error)) error {
	most := min(b.fits, b.allows, mostBags)
	best, idle := 0.0, 0
	for bags := min(fewestTried, floorPower(most)); bags <= most && idle < 2; bags *= 2 {
		speed, err := measure(bags)
		if err != nil {
			return err
		}
		b.tried = append(b.tried, triedBatch{bags, speed})
		if idle++; speed*fastEnough > best {
			idle = 0
		}
		best = max(best, speed)
	}
	for _, t := range b.tried {
		if b.chosen == 0 && t.speed >= fastEnough*best {
			b.chosen = t.bags
		}
	}
	return nil
}

// floorPower is the largest power of two up to n, which is at least 1.
func floorPower(n int) int {
	power := 1
	for power <= n/2 {
		power *= 2
	}
	return power
}

// text says what was chosen and why.
func (b *batchChoice) text(rate float64) string {
	return fmt.Sprintf("%d, for %s; the learning rate stays %g: with other batches it is usually changed by the same "+
		"factor (`train.learning_rate`)", b.chosen, b.why(), rate)
}

// why says why no other size was chosen.
func (b *batchChoice) why() string {
	speeds := make([]string, len(b.tried))
	for i, t := range b.tried {
		decimals := 0
		if t.speed < 100 {
			decimals = 1
		}
		speeds[i] = fmt.Sprintf("%d: %.*f/s", t.bags, decimals, t.speed)
	}
	why := "no larger one is faster"
	if last := b.tried[len(b.tried)-1]; b.chosen == last.bags {
		switch most := min(b.fits, b.allows, mostBags); {
		case most == b.fits:
			why = "memory holds no larger one"
		case most == b.allows:
			why = fmt.Sprintf("with a larger one an epoch has fewer than %d steps", enoughSteps)
		default:
			why = "larger ones are not tried"
		}
	}
	return fmt.Sprintf("%s (%s; memory holds %d)", why, strings.Join(speeds, ", "), b.fits)
}

// KeepBatch takes an automatic batch size from the run in a folder, if there is one: the same command shows or refuses
// that run, and does not ask for another number.
func (c *Config) KeepBatch(dir string) {
	t := &c.Train
	if min(t.BatchSize, t.BatchSizeMIL) != train.AutoBatch {
		return
	}
	there, err := ReadConfig(dir)
	if err != nil {
		return
	}
	for _, number := range []struct{ to, from *int }{
		{&t.BatchSize, &there.Train.BatchSize}, {&t.BatchSizeMIL, &there.Train.BatchSizeMIL},
	} {
		if *number.to == train.AutoBatch {
			*number.to = *number.from
		}
	}
	for _, o := range there.Chosen {
		if strings.HasPrefix(o.Key, "train.batch_size") {
			c.note(o.Key, o.Why)
		}
	}
}

// settleBatch chooses a number if the batch size is automatic, and reports it. The configuration keeps the
// number, so that a resumed run goes on with it, whatever the speed is by then.
func (s *Session) settleBatch(ctx context.Context) error {
	t, mil := &s.Config.Train, s.Config.Net.MIL
	number := t.Batch(mil)
	if number == train.AutoBatch {
		other, err := s.With(ctx, s.Config)
		if err != nil {
			return err
		}
		b, err := chooseBatch(ctx, NewEstimator(other))
		if err != nil {
			return err
		}
		number = b.chosen
		s.Notify(Message{Topic: "batch", Text: b.text(t.LearningRate)})
		key, _ := s.Config.batch()
		s.Config.note(key, b.why())
	}
	for _, to := range []*int{&t.BatchSize, &t.BatchSizeMIL} {
		if *to == train.AutoBatch {
			*to = number
		}
	}
	return nil
}

// The keys of the sizes of a batch.
const (
	batchKey    = "train.batch_size"
	batchMILKey = "train.batch_size_mil"
)

// batch is the setting of the size of a batch that counts.
func (c *Config) batch() (key string, size *int) {
	if c.Net.MIL {
		return batchMILKey, &c.Train.BatchSizeMIL
	}
	return batchKey, &c.Train.BatchSize
}

// Few rows are learned in small batches: an epoch of a few steps hardly moves a head, and the epochs of folds are
// bounded.
const (
	stepsOfRows  = 16 // of an epoch, if there are enough rows
	smallBatch   = 4  // the smallest one that is chosen
	halvedFrom64 = "64, halved down to 4 while an epoch has fewer than 16 steps"
)

// sizeBatch halves the batch of a head on features, if it was left open, until an epoch has enough steps.
func (c *Config) sizeBatch(of *loader.Set) {
	preset, rows := train.FeaturesPreset(), of.Len()
	if c.ByFrame() {
		rows = of.AllFrames()
	}
	key, size := c.batch()
	if !c.LeftOpen(key) || *size != preset.Batch(c.Net.MIL) {
		return
	}
	for *size > smallBatch && rows < stepsOfRows**size {
		*size /= 2
	}
	for _, other := range []string{batchKey, batchMILKey} {
		if other != key { // its size does not count
			c.forget(other)
		}
	}
}

func chooseBatch(ctx context.Context, e *Estimator) (*batchChoice, error) {
	arms, err := e.config.PlannedArms()
	if err != nil {
		return nil, err
	}
	arm := arms[len(arms)-1] // with the noise model, if there is one
	census, err := e.data.Train.Census(ctx)
	if err != nil {
		return nil, err
	}
	b := &batchChoice{allows: max(1, e.data.Train.Len()/enoughSteps/e.config.Train.Accumulate)}
	if b.fits, err = mostInMemory(e, arm, census.Longest); err == nil {
		b.fits, err = fromRank0(e.ranks, b.fits)
	}
	if err != nil {
		return nil, err
	}
	tried := *e
	return b, b.choose(func(bags int) (float64, error) {
		tried.config.Train.BatchSize, tried.config.Train.BatchSizeMIL = bags, bags
		m, err := tried.timeSteps(ctx, arm, candidateSteps, candidateTime)
		if err != nil || m.Step == 0 {
			return 0, err
		}
		return float64(m.Bags) / m.Step.Seconds(), nil
	})
}

// mostInMemory is the largest power of two of bags, of the longest videos, that fits into memory: into the
// device's next to the net and the state of the optimizer, and into the host's with the bags that are read
// ahead. It is 1 if not even one fits; the error of that step explains more.
func mostInMemory(e *Estimator, arm train.Arm, longest int) (bags int, err error) {
	net, err := e.fresh(arm)
	if err != nil {
		return 0, err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	free, known := model.FreeBytes(e.backend)
	if !known {
		return mostBags, nil
	}
	c := &e.config
	budget := int(memoryShare*float64(free)) - c.Train.StateBytes(net)
	_, card := e.backend.(kernels.Card)
	for bags = mostBags; bags > 1; bags /= 2 {
		pixels := readAheadBytes(net.Config(), &c.Run, bags, longest)
		if !hostHolds(pixels) {
			continue
		}
		need := stepBytes(net, bags, longest, c.Train.ChunkFrames)
		if need <= budget && (card || hostHolds(pixels+float64(need))) {
			break
		}
	}
	return bags, nil
}

// readAheadBytes is what the pixels of the batches take that are read ahead.
func readAheadBytes(c model.Config, r *Resources, bags, longest int) float64 {
	one := 3 * c.Size * c.Size
	if c.Input > 0 {
		one = 4 * c.Input
	}
	return float64(one) * float64(bags) * float64(max(longest, 1)) * float64(r.Prefetch+r.Workers+1)
}

// hostHolds reports whether the host has memory for that many bytes, as far as is known.
func hostHolds(bytes float64) bool {
	free, known := memory.Free()
	return !known || bytes <= memoryShare*float64(free)
}
