package ranksuite_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nmn/ranks"
	"nmn/ranks/local"
	"nmn/tools/ranksuite"
)

// deaf receives no failure: none at all, or none after the first.
type deaf struct {
	ranks.Group
	hears int // failures
}

func (d *deaf) hear(err error) error {
	if err != nil && d.hears == 0 {
		return nil
	}
	if err != nil {
		d.hears--
	}
	return err
}

func (d *deaf) Sum(x []float32, wire ranks.Wire) error { return d.hear(d.Group.Sum(x, wire)) }
func (d *deaf) Wait() error                            { return d.hear(d.Group.Wait()) }
func (d *deaf) Broadcast(data []byte) error            { return d.hear(d.Group.Broadcast(data)) }

func (d *deaf) Gather(own []byte) ([][]byte, error) {
	all, err := d.Group.Gather(own)
	if err = d.hear(err); err == nil && all == nil {
		all = make([][]byte, d.Size())
	}
	return all, err
}

// wrong runs a case on two ranks and returns how many of them find something wrong. Time passes only while
// both wait.
func wrong(t *testing.T, c ranksuite.Case, as func(ranks.Group) ranks.Group) int {
	t.Helper()
	found := make([]int, 2)
	synctest.Test(t, func(*testing.T) {
		var ranks sync.WaitGroup
		for i, g := range local.New(2, 100*time.Millisecond) {
			ranks.Go(func() {
				if c.Run(as(g)) != nil {
					found[i] = 1
				}
			})
		}
		ranks.Wait()
	})
	return found[0] + found[1]
}

func TestEndings_FindWhatBreaksTheContract(t *testing.T) {
	for _, c := range ranksuite.Endings() {
		if !c.Ends {
			t.Errorf("%s does not end its group", c.Name)
		}
		if n := wrong(t, c, func(g ranks.Group) ranks.Group { return g }); n > 0 {
			t.Errorf("%s: %d ranks find something wrong", c.Name, n)
		}
		for hears := range 2 {
			if wrong(t, c, func(g ranks.Group) ranks.Group { return &deaf{g, hears} }) == 0 {
				t.Errorf("%s: no rank misses the failures after the first %d", c.Name, hears)
			}
		}
	}
}
