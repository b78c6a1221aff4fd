package train

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"nmn/group"
	"nmn/kernels/noise"
	"nmn/loader"
	"nmn/model"
)

// largest is how ranks that have parts of a batch find the largest losses of all of it: each tells the others the order of
// its logits of labels 0, all find the least that is still taken, and each how many of its own are.
type largest struct {
	count int // of the batch of all ranks; 0 where nothing is to be chosen
	own   int // of this rank's part
	width int // classes

	epoch  int
	order  *loader.Order // of the epoch
	logits []float32
	told   []byte
	ranks  []uint32      // noise.Rank of the labels of all
	parts  []largestPart // of each rank
}

// largestPart is what a rank has told of its bags, which come in the order of the batch.
type largestPart struct {
	bags  []int
	first int // of its labels among all
	at    int // bags that were seen
}

// begin says how many large losses there are in a batch of the step, of several ranks.
func (c *largest) begin(t *Trainer, batch int) {
	c.count, c.own, c.width = 0, 0, t.Net.Config().Classes
	if t.ranks.many && t.Config.Loss.Large() {
		c.count = t.Config.Loss.largeLosses(t.at.Epoch, t.ranks.counts[batch].bags*c.width).Count
	}
}

// beginTogether computes the logits of the bags of a plan.
func (t *Trainer) beginTogether(plan *model.Plan) error {
	p := &t.passes
	p.work = work{plan: plan, begins: true}
	p.options = model.StepOptions{DropoutSeed: t.dropoutSeed()}
	if err := t.Net.Prepare(p.options); err != nil {
		return err
	}
	t.section("logits")
	return t.replays.do(p.work, p.begin)
}

// enqueueBegin goes from the pixels of a batch to the logits of its bags.
func (t *Trainer) enqueueBegin() error {
	if err := t.Net.Normalize(t.passes.work.plan); err != nil {
		return err
	}
	return t.Net.Begin(t.passes.work.plan, t.passes.options)
}

// choose finds how many of the large losses of a batch are of this rank's part of it, whose logits are in a plan; there
// is none where it has no bags. failure is what has gone wrong on this rank.
func (t *Trainer) choose(batch *loader.Batch, plan *model.Plan, failure error) error {
	c := &t.largest
	if c.count == 0 {
		return failure
	}
	if failure == nil && batch.N > 0 {
		failure = c.read(t, plan)
	}
	c.tell(batch, failure)
	t.section("wait for other ranks")
	began := time.Now()
	all, err := group.GatherLong(t.ranks.group, c.told, gatheredPiece)
	t.ranks.waited(began)
	if err == nil && failure == nil {
		err = group.Heard(t.ranks.group, all)
	}
	if err := errors.Join(failure, err); err != nil {
		return err
	}
	if err := c.hear(all); err != nil {
		return err
	}
	if c.order == nil || c.epoch != t.at.Epoch {
		c.order, c.epoch = t.loader.Order(t.at.Epoch), t.at.Epoch
	}
	limit, equal := noise.LimitOf(c.ranks, c.count)
	rank := t.ranks.group.Rank()
	c.own = c.above(rank, limit) + c.among(rank, c.order.Batch(batch.Number), limit, equal)
	return nil
}

// read brings the logits of bags to the host.
func (c *largest) read(t *Trainer, plan *model.Plan) error {
	n := plan.BagLogit.Len()
	if cap(c.logits) < n {
		c.logits = make([]float32, n)
	}
	c.logits = c.logits[:n]
	return t.Net.Backend().Download(hostOver(c.logits), plan.BagLogit)
}

// tell writes what this rank tells: its status, the number of its bags, which they are, and the ranks of their labels.
func (c *largest) tell(batch *loader.Batch, failure error) {
	c.told = append(c.told[:0], make([]byte, group.LongPrefix)...)
	c.told = append(c.told, group.Status(failure)...)
	if failure != nil {
		return
	}
	c.told = binary.LittleEndian.AppendUint64(c.told, uint64(batch.N))
	for _, bag := range batch.Index[:batch.N] {
		c.told = binary.LittleEndian.AppendUint64(c.told, uint64(bag))
	}
	if batch.N == 0 {
		return
	}
	for i, label := range learned(batch).Float32s() {
		c.told = binary.LittleEndian.AppendUint32(c.told, noise.Rank(c.logits[i], label))
	}
}

// hear takes in what all ranks have told.
func (c *largest) hear(all [][]byte) error {
	if c.parts == nil {
		c.parts = make([]largestPart, len(all))
	}
	c.ranks = c.ranks[:0]
	for rank, told := range all {
		told = told[1:] // behind its status
		p := &c.parts[rank]
		p.bags, p.first, p.at = p.bags[:0], len(c.ranks), 0
		bags := uint64(0)
		if len(told) >= 8 {
			bags, told = binary.LittleEndian.Uint64(told), told[8:]
		}
		if each := 8 + 4*c.width; bags > uint64(len(told)/each) || len(told) != int(bags)*each {
			return fmt.Errorf("training: rank %d tells %d bytes of the losses of %d bags", rank, len(told), bags)
		}
		for range bags {
			p.bags, told = append(p.bags, int(binary.LittleEndian.Uint64(told))), told[8:]
		}
		for ; len(told) > 0; told = told[4:] {
			c.ranks = append(c.ranks, binary.LittleEndian.Uint32(told))
		}
	}
	return nil
}

// of are the ranks of the labels of a bag, by its place among those of a rank.
func (p *largestPart) of(c *largest, bag int) []uint32 {
	first := p.first + bag*c.width
	return c.ranks[first : first+c.width]
}

// above counts the labels of a rank that are taken whatever comes first.
func (c *largest) above(rank int, limit uint32) (taken int) {
	p := &c.parts[rank]
	for bag := range p.bags {
		for _, r := range p.of(c, bag) {
			if r > limit {
				taken++
			}
		}
	}
	return taken
}

// among counts the labels of a rank among the first so many of all that are equal to the limit, in the order of the bags
// of the batch.
func (c *largest) among(rank int, order []int, limit uint32, equal int) (taken int) {
	for _, bag := range order {
		for i := range c.parts {
			p := &c.parts[i]
			if p.at == len(p.bags) || p.bags[p.at] != bag {
				continue
			}
			for _, r := range p.of(c, p.at) {
				if equal == 0 {
					return taken
				}
				if r == limit {
					equal--
					if i == rank {
						taken++
					}
				}
			}
			p.at++
			break
		}
	}
	return taken
}
