package suite

import (
	"errors"
	"fmt"

	"nmn/group"
)

// share has ranks hold memory together, where they can: rooms are empty at first and of any length, what one writes all
// see behind a gathering, and who has given it back does not take it from the others.
func share(g group.Group) error {
	sharer, ok := g.(group.Sharer)
	if !ok {
		return nil
	}
	var wrong error
	for range 2 {
		own := 3000*g.Rank() + g.Size()
		m, err := sharer.Share(own)
		switch {
		case errors.Is(err, group.ErrNotShared):
			return nil // on all ranks: the cases behind this one show that they go on together
		case err != nil:
			return err
		case len(m.Ranks) != g.Size():
			return fmt.Errorf("%d ranks hold %d rooms", g.Size(), len(m.Ranks))
		}
		for i := range own {
			wrong = errors.Join(wrong, empty(m.Ranks[g.Rank()][i]))
			m.Ranks[g.Rank()][i] = value(g.Rank(), i)
		}
		if _, err := g.Gather(nil); err != nil {
			return err
		}
		for rank, room := range m.Ranks {
			for i := range 3000*rank + g.Size() {
				if room[i] != value(rank, i) {
					wrong = errors.Join(wrong, fmt.Errorf("number %d of rank %d is %v", i, rank, room[i]))
					break
				}
			}
		}
		if _, err := g.Gather(nil); err != nil { // all have read
			return err
		}
		m.Ranks[0][g.Rank()] = 7 // of rank 0's room
		last := g.Rank() == g.Size()-1
		if !last {
			wrong = errors.Join(wrong, m.Close())
		}
		if _, err := g.Gather(nil); err != nil {
			return err
		}
		if last && (m.Ranks[0][0] != 7 || m.Ranks[0][g.Rank()] != 7) {
			wrong = errors.Join(wrong, errors.New("what the other ranks wrote last is not there"))
		}
		wrong = errors.Join(wrong, m.Close(), m.Close())
	}
	return wrong
}

func empty(v float32) error {
	if v != 0 {
		return fmt.Errorf("new memory holds %v", v)
	}
	return nil
}
