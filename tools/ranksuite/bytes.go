package ranksuite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"nmn/ranks"
)

func gather(g ranks.Group) error {
	for _, shift := range []int{0, 1, 2} {
		// Lengths differ, and one rank gives nothing.
		of := func(rank int) []byte {
			return []byte(strings.Repeat(fmt.Sprintf("<%d>", rank), (rank+shift)%g.Size()*40))
		}
		own := of(g.Rank())
		all, err := g.Gather(own)
		if err != nil {
			return err
		}
		for rank := range g.Size() {
			if len(all) != g.Size() || !bytes.Equal(all[rank], of(rank)) {
				return fmt.Errorf("%q", all)
			}
		}
		if !bytes.Equal(own, of(g.Rank())) {
			return errors.New("gathering changes what a rank gives")
		}
	}
	all, err := g.Gather(nil)
	if err == nil && (len(all) != g.Size() || len(all[0]) != 0) {
		err = fmt.Errorf("nothing, gathered, is %q", all)
	}
	return err
}

// gatherMuch gathers millions of bytes, a different number from every rank.
func gatherMuch(g ranks.Group) error {
	of := func(rank int) []byte {
		b := bytes.Repeat([]byte{byte(rank + 1)}, 3<<20+rank*1000001)
		b[0], b[len(b)-1] = 'b', 'e'
		return b
	}
	all, err := g.Gather(of(g.Rank()))
	if err != nil {
		return err
	}
	for rank, theirs := range all {
		if !bytes.Equal(theirs, of(rank)) {
			return fmt.Errorf("rank %d's %d bytes are others", rank, len(theirs))
		}
	}
	return nil
}

func broadcast(g ranks.Group) error {
	for _, n := range []int{0, 1, 1000, 9<<20 + 5} {
		first := append(bytes.Repeat([]byte("seven b"), n/7), "seven b"[:n%7]...)
		data := bytes.Clone(first)
		if g.Rank() > 0 {
			clear(data)
		}
		if err := g.Broadcast(data); err != nil {
			return err
		}
		if !bytes.Equal(data, first) {
			return fmt.Errorf("%d bytes are not rank 0's", n)
		}
	}
	return nil
}

func agree(g ranks.Group) error {
	if err := ranks.Agree(g, nil); err != nil {
		return err
	}
	last, own := g.Size()-1, error(nil)
	if g.Rank() == last {
		own = errors.New("its disk is full")
	}
	err := ranks.Agree(g, own)
	var lost *ranks.LostError
	switch {
	case own != nil:
		if err != own {
			return fmt.Errorf("the rank with the error gets %v", err)
		}
	case !errors.As(err, &lost) || lost.Rank != last || lost.Name != g.Names()[last] ||
		!strings.Contains(err.Error(), "its disk is full"):
		return fmt.Errorf("another rank gets %v", err)
	}
	return ranks.Agree(g, nil) // the group continues
}

func agreeOnInterrupt(g ranks.Group) error {
	own := error(nil)
	if g.Rank() == 0 {
		own = context.Canceled
	}
	if err := ranks.Agree(g, own); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("an interrupt reaches this rank as %v", err)
	}
	return nil
}
