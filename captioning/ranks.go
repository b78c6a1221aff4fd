package captioning

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"nmn/group"
	"nmn/kernels/reduce"
	"nmn/kernels/tensor"
	"nmn/model/s2vt"
	"nmn/train"
)

// ranks are what a Trainer needs to learn together with others. On one rank it holds the group and nothing else.
type ranks struct {
	group   group.Group
	many    bool
	reducer reduce.Reducer
	begun   int // buckets of this step, one for each layer
	layers  int

	share []int // pairs of a step that this rank learns
	told  []byte
	well  []byte        // the status of a rank that goes on
	save  bool          // rank 0 asks for a checkpoint before this step
	wait  time.Duration // of this step, for other ranks
}

func newRanks(g group.Group) ranks {
	g = group.Of(g)
	return ranks{group: g, many: g.Size() > 1, well: group.Status(nil)}
}

// open makes the buckets of a net's gradients, and what sums them.
func (r *ranks) open(net *s2vt.Net, wire group.Wire) (err error) {
	if !r.many {
		return nil
	}
	var buckets [][]*tensor.Tensor
	for _, layer := range net.Gradients() {
		var bucket []*tensor.Tensor
		for _, p := range layer {
			bucket = append(bucket, p.G)
		}
		buckets = append(buckets, bucket)
	}
	r.layers = len(buckets)
	r.reducer, err = reduce.New(r.group, net.Backend(), buckets, wire)
	return err
}

func (r *ranks) close() error {
	if r.reducer == nil {
		return nil
	}
	return r.reducer.Close()
}

// most is how many of so many captions of a step a rank has at most.
func (r *ranks) most(captions int) int { return (captions + r.group.Size() - 1) / r.group.Size() }

// deal gives this rank its part of the pairs of a step, which come by the number of their words: whole captions, dealt
// from the longest on by turns to and fro, so that all ranks have nearly as many captions and words. The result holds
// until the next call.
func (r *ranks) deal(samples []int) []int {
	if !r.many {
		return samples
	}
	rank, size := r.group.Rank(), r.group.Size()
	r.share = r.share[:0]
	for i := range samples {
		turn := (len(samples) - 1 - i) % (2 * size)
		if min(turn, 2*size-1-turn) == rank {
			r.share = append(r.share, samples[i])
		}
	}
	return r.share
}

// layerDone begins the sum of the gradients of a layer.
func (r *ranks) layerDone(layer int) error { return r.beginTo(layer + 1) }

// beginTo begins the sums of all layers before one that have not begun.
func (r *ranks) beginTo(end int) error {
	for ; r.begun < end; r.begun++ {
		if err := r.reducer.Begin(r.begun); err != nil {
			return err
		}
	}
	return nil
}

// reduce has the gradients be those of all ranks.
func (r *ranks) reduce() error {
	began := time.Now()
	err := r.beginTo(r.layers)
	if err == nil {
		err = r.reducer.Wait()
	}
	r.wait += time.Since(began)
	return err
}

// agree returns an error on all ranks where one of them has one.
func (r *ranks) agree(err error) error {
	if !r.many {
		return err
	}
	return group.Agree(r.group, err)
}

// meet tells the other ranks before a step that this one has read its part of it, or why it cannot go on, and hears the
// same from them, so that all end at the same step; and whether rank 0 wants a checkpoint, by its clock.
func (t *Trainer) meet(ctx context.Context, failure error) error {
	r := &t.ranks
	if !r.many {
		return failure
	}
	if failure == nil {
		failure = ctx.Err()
	}
	if failure != nil {
		r.told = append(r.told[:0], group.Status(failure)...)
	} else {
		r.told = append(r.told[:0], r.well...)
		for _, n := range [...]int{t.at.Step, t.at.Epoch, t.at.Batch} {
			r.told = binary.LittleEndian.AppendUint64(r.told, uint64(n))
		}
		save := byte(0)
		if r.group.Rank() == 0 && t.at.Step > 0 && t.keeper.Due() {
			save = 1
		}
		r.told = append(r.told, save)
	}
	began := time.Now()
	all, err := r.group.Gather(r.told)
	r.wait += time.Since(began)
	if err != nil {
		return errors.Join(failure, err)
	}
	if failure != nil {
		return failure
	}
	if err := group.Heard(r.group, all); err != nil {
		return err
	}
	last := len(r.told) - 1
	r.save = all[0][len(all[0])-1] == 1
	for rank := range all {
		if len(all[rank]) != len(r.told) || string(all[rank][:last]) != string(r.told[:last]) {
			return r.confused(rank)
		}
	}
	return nil
}

func (r *ranks) confused(rank int) error {
	return fmt.Errorf("captioning: rank %d (%s) is at another step than rank %d: all ranks need the same data and settings",
		rank, r.group.Names()[rank], r.group.Rank())
}

// sumUp makes of the loss of this rank's captions that of all, and finds who waited for whom.
func (t *Trainer) sumUp(e *StepDone) error {
	r := &t.ranks
	if !r.many {
		return nil
	}
	r.told = group.AppendFloat64s(r.told[:0], e.Loss, e.DataWait.Seconds(), r.wait.Seconds())
	all, err := r.group.Gather(r.told)
	if err != nil {
		return err
	}
	e.Ranks, e.Wait, e.Loss = len(all), r.wait, 0
	least := math.Inf(1)
	for rank, told := range all {
		if len(told) != len(r.told) {
			return r.confused(rank)
		}
		value := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(told[8*i:])) }
		e.Loss += value(0)
		e.MostDataWait = max(e.MostDataWait, seconds(value(1)))
		e.MostWait = max(e.MostWait, seconds(value(2)))
		if value(2) < least {
			least, e.Slowest = value(2), rank
		}
	}
	return nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// digest is a checksum of the weights of a net.
func digest(net *s2vt.Net) (uint32, error) {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	var bytes []byte
	for _, p := range net.Params() {
		values, err := net.Values(p.W)
		if err != nil {
			return 0, err
		}
		bytes = bytes[:0]
		for _, v := range values {
			bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(v))
		}
		sum.Write(bytes)
	}
	return sum.Sum32(), nil
}

// together checks that all ranks learn the same and have the same weights.
func (t *Trainer) together() error {
	r := &t.ranks
	if !r.many {
		return nil
	}
	weights, err := digest(t.Net)
	own := fmt.Sprintf("%d clips with %d captions (%.12s), %d steps, position %+v, weights %08x", t.data.Clips,
		t.data.Captions, t.data.Fingerprint, t.steps, t.at, weights)
	all, err := group.Exchange(r.group, []byte(own), err)
	if err != nil {
		return err
	}
	for rank := range all {
		if string(all[rank]) != string(all[0]) {
			return fmt.Errorf("captioning: after step %d rank %d (%s) has %s, and rank 0 %s: they have other data or "+
				"settings, or their machines compute differently", t.at.Step, rank, r.group.Names()[rank], all[rank], all[0])
		}
	}
	return nil
}

// interrupted is train.Interrupted, on all ranks where one of them was.
func (t *Trainer) interrupted(ctx context.Context, err error) error {
	if t.ranks.many && ctx.Err() == nil && errors.Is(err, context.Canceled) {
		ended, end := context.WithCancelCause(ctx)
		end(err)
		ctx = ended
	}
	return train.Interrupted(ctx, err, t.at.Epoch, t.at.Step, t.steps, t.save)
}
