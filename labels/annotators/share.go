package annotators

import (
	"errors"
	"fmt"

	"nmn/group"
)

// checkOnAll reports what is wrong with the options or the input of any rank, and ranks with other inputs.
func (in *Input) checkOnAll(o Options) error {
	err := o.Validate()
	if err == nil {
		err = in.check()
	}
	return group.Alike(group.Of(o.Group), fmt.Sprintf("%d bags, %d annotators, %d labels and %d rows", in.Bags,
		in.Annotators, in.Classes, len(in.Rows)), err)
}

// append appends all sums, one after the other.
func (s *sums) append(to []byte) []byte {
	to = group.AppendFloat64s(to, s.likelihood)
	for _, of := range [][]float64{s.true1, s.true0, s.class, s.points} {
		to = group.AppendFloat64s(to, of...)
	}
	for i := range s.calibrated {
		c := &s.calibrated[i]
		to = group.AppendFloat64s(to, c.ga, c.gb, c.haa, c.hab, c.hbb)
	}
	return to
}

// set takes the sums that another rank has appended, and returns what is left.
func (s *sums) set(from []float64) ([]float64, error) {
	const ofSlope = 5
	if len(from) < 1+len(s.true1)+len(s.true0)+len(s.class)+len(s.points)+ofSlope*len(s.calibrated) {
		return nil, errors.New("annotators: a rank sends a part of its sums")
	}
	s.likelihood, from = from[0], from[1:]
	for _, of := range [][]float64{s.true1, s.true0, s.class, s.points} {
		from = from[copy(of, from):]
	}
	for i := range s.calibrated {
		s.calibrated[i] = slope{from[0], from[1], from[2], from[3], from[4]}
		from = from[ofSlope:]
	}
	return from, nil
}

// gatherBlocks gives every rank the sums of all blocks; err is this rank's failure, if any.
func (e *estimator) gatherBlocks(err error) error {
	if e.ranks.Size() == 1 {
		return err
	}
	var own []byte
	first, last := group.Share(e.ranks, len(e.blocks))
	for b := first; b < last && err == nil; b++ {
		own = e.blocks[b].append(own)
	}
	all, err := group.Exchange(e.ranks, own, err)
	if err != nil {
		return err
	}
	b := 0
	for _, data := range all {
		numbers, err := group.Float64s(data)
		if err != nil {
			return err
		}
		for ; len(numbers) > 0; b++ {
			if b == len(e.blocks) {
				return errors.New("annotators: the ranks have more blocks than there are")
			}
			if numbers, err = e.blocks[b].set(numbers); err != nil {
				return err
			}
		}
	}
	return nil
}

// gatherPosteriors gives every rank those of the cells of all bags.
func (e *estimator) gatherPosteriors() error {
	if e.ranks.Size() == 1 {
		return nil
	}
	const pieceOf = 1 << 17
	n := len(e.blocks)
	first, last := group.Share(e.ranks, n)
	next, end := e.cells.first[first*e.in.Bags/n], e.cells.first[last*e.in.Bags/n]
	at := make([]int, e.ranks.Size()) // where the next cell of each rank goes
	for rank := range at {
		at[rank] = int(e.cells.first[rank*n/e.ranks.Size()*e.in.Bags/n])
	}
	return group.Stream(e.ranks, func() ([]byte, error) {
		to := min(next+pieceOf, end)
		data := group.AppendFloat64s(nil, e.rho[next:to]...)
		next = to
		return data, nil
	}, func(rank int, data []byte) error {
		theirs, err := group.Float64s(data)
		if len(theirs) > len(e.rho)-at[rank] {
			return errors.New("annotators: a rank has more cells than there are")
		}
		at[rank] += copy(e.rho[at[rank]:], theirs)
		return err
	})
}
