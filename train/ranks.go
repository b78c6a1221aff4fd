package train

import (
	"time"

	"nmn/loader"
	"nmn/ranks"
)

// rankState is what a stage needs to learn with other ranks. With one rank it holds only the group.
type rankState struct {
	group ranks.Group
	many  bool

	told   []byte        // this rank's message
	counts []rankBatch   // of the batches of the step
	save   bool          // rank 0 asks for a checkpoint before this step
	wait   time.Duration // of this step, for other ranks

	badTold int // bags that this rank could not read and has reported to the others
	bad     []loader.BadSample
	isBad   map[int]bool // bags in bad
}

func newRankState(g ranks.Group) *rankState {
	g = ranks.Of(g)
	return &rankState{group: g, many: g.Size() > 1}
}

// waited counts the time since then as time for which this rank has waited for others.
func (r *rankState) waited(since time.Time) { r.wait += time.Since(since) }

// agree returns an error on all ranks if any of them has one.
func (r *rankState) agree(err error) error {
	if !r.many {
		return err
	}
	return ranks.Agree(r.group, err)
}

// first returns rank 0's value of yes on all ranks.
func (r *rankState) first(yes bool) (bool, error) {
	if !r.many {
		return yes, nil
	}
	said := []byte{0}
	if yes {
		said[0] = 1
	}
	err := r.group.Broadcast(said)
	return said[0] == 1, err
}
