package train

import (
	"errors"
	"fmt"
	"hash/crc32"

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

// other compares the weights of all ranks. It returns the first rank whose weights differ from rank 0, or 0.
func (r *rankState) other(net *model.Net) (rank int, err error) {
	own, err := digest(net)
	if err = ranks.Agree(r.group, err); err != nil {
		return 0, err
	}
	all, err := r.group.Gather(own)
	if err != nil {
		return 0, err
	}
	for rank := range all {
		if string(all[rank]) != string(all[0]) {
			return rank, nil
		}
	}
	return 0, nil
}

// together checks that all ranks have the same weights.
func (t *Trainer) together() error {
	if !t.ranks.many {
		return nil
	}
	rank, err := t.ranks.other(t.Net)
	if err == nil && rank > 0 {
		err = fmt.Errorf("training: after step %d the weights of rank %d (%s) differ from rank 0: %w: their "+
			"machines compute differently, or one of them is faulty", t.at.Step, rank, t.ranks.group.Names()[rank],
			errDrifted)
	}
	return err
}

// alike refuses ranks that would make other steps: their calls would not fit together.
func (r *rankState) alike(t *Trainer) error {
	r.told = fmt.Appendf(r.told[:0], "%d samples, %d batches, %d steps, position %+v", t.Data.Len(), t.loader.Batches(),
		t.steps, t.at)
	all, err := r.group.Gather(r.told)
	if err != nil {
		return err
	}
	for rank := range all {
		if string(all[rank]) != string(all[0]) {
			return r.confused(rank)
		}
	}
	return nil
}

// align refuses, before the first step of a Run, ranks that would make other steps or have other weights.
func (t *Trainer) align() error {
	if !t.ranks.many {
		return nil
	}
	if err := t.ranks.alike(t); err != nil {
		return err
	}
	return t.together()
}
