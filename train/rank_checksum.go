package train

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"nmn/model"
	"nmn/ranks"
)

// errDrifted is the error of ranks whose weights are no longer the same.
var errDrifted = errors.New("the ranks have drifted apart")

// digest is a checksum of the weights of a net.
func digest(net *model.Net) ([]byte, error) {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	for _, p := range net.Params() {
		if err := net.WriteParam(sum, p); err != nil {
			return nil, err
		}
	}
	return sum.Sum(nil), nil
}

// differs returns the first rank whose message differs from that of rank 0, or 0.
func (r *rankState) differs(own []byte) (rank int, err error) {
	all, err := r.group.Gather(own)
	if err != nil {
		return 0, err
	}
	return max(slices.IndexFunc(all, func(told []byte) bool { return !bytes.Equal(told, all[0]) }), 0), nil
}

// sameWeights checks that all ranks have the same weights after a step.
func (r *rankState) sameWeights(net *model.Net, step int) error {
	if !r.many {
		return nil
	}
	own, err := digest(net)
	if err := ranks.Agree(r.group, err); err != nil {
		return err
	}
	rank, err := r.differs(own)
	if err == nil && rank > 0 {
		err = fmt.Errorf("training: after step %d the weights of rank %d (%s) differ from rank 0: %w: their "+
			"machines compute differently, or one of them is faulty", step, rank, r.group.Names()[rank], errDrifted)
	}
	return err
}

// align refuses, before the first step of a Run, ranks that would make other steps, whose calls would not fit
// together, or that have other weights.
func (r *rankState) align(o *Options, batches, steps int, at Position) error {
	if !r.many {
		return nil
	}
	r.told = fmt.Appendf(r.told[:0], "%d samples, %d batches, %d steps, position %+v", o.Data.Len(), batches, steps, at)
	rank, err := r.differs(r.told)
	if err == nil && rank > 0 {
		err = r.confused(rank)
	}
	if err != nil {
		return err
	}
	return r.sameWeights(o.Net, at.Step)
}
