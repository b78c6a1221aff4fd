package train

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"nmn/loader"
	"nmn/ranks"
)

// heardRank reads a rank's message.
type heardRank struct {
	rest []byte
	cut  bool
}

func (h *heardRank) number() int {
	if len(h.rest) < 8 {
		h.cut = true
		return 0
	}
	n := binary.LittleEndian.Uint64(h.rest)
	h.rest = h.rest[8:]
	return int(n)
}

func (h *heardRank) text() string {
	n := h.number()
	if n < 0 || n > len(h.rest) {
		h.cut = true
		return ""
	}
	s := string(h.rest[:n])
	h.rest = h.rest[n:]
	return s
}

// part indexes the values that the ranks exchange at the end of a step, in this order.
const (
	partLoss = iota
	partDataWait
	partWait
	parts
)

// sumUp adds the losses of all ranks' bags, and finds which rank waited for which.
func (r *rankState) sumUp(loss float64, e *StepDone) (float64, error) {
	r.told = r.told[:0]
	for _, v := range [parts]float64{loss, e.DataWait.Seconds(), r.wait.Seconds()} {
		r.told = binary.LittleEndian.AppendUint64(r.told, math.Float64bits(v))
	}
	all, err := r.group.Gather(r.told)
	if err != nil {
		return 0, err
	}
	e.Ranks, e.Wait, loss = len(all), r.wait, 0
	least := math.Inf(1)
	for rank, told := range all {
		if len(told) != 8*parts {
			return 0, r.confused(rank)
		}
		value := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(told[8*i:])) }
		loss += value(partLoss)
		e.MostDataWait = max(e.MostDataWait, seconds(value(partDataWait)))
		e.MostWait = max(e.MostWait, seconds(value(partWait)))
		if value(partWait) < least {
			least, e.Slowest = value(partWait), rank
		}
	}
	return loss, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// brokenStep is what a rank has of a step whose loss or gradient is not finite.
type brokenStep struct {
	IDs    []string // its bags
	Broken bool     // its own loss is not finite
}

// brokenIDs returns the bags of a step on all ranks. If the loss of some ranks is not finite, it returns their bags
// alone.
func (r *rankState) brokenIDs(batches []*loader.Batch, broken bool) ([]string, error) {
	own := idsOf(batches)
	if !r.many {
		return own, nil
	}
	all, err := ranks.Every(r.group, brokenStep{own, broken}, nil)
	if err != nil {
		return own, err
	}
	blamed := slices.ContainsFunc(all, func(its brokenStep) bool { return its.Broken })
	var ids []string
	for _, its := range all {
		if its.Broken || !blamed {
			ids = append(ids, its.IDs...)
		}
	}
	return ids, nil
}
