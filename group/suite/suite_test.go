package suite_test

import (
	"sync"
	"testing"
	"time"

	"nmn/group"
	"nmn/group/local"
	"nmn/group/suite"
)

func TestAlone_KeepsTheContract(t *testing.T) {
	for name, err := range suite.Run(group.Alone{}) {
		t.Errorf("%s: %v", name, err)
	}
}

func TestLocal_KeepsTheContract(t *testing.T) {
	for n := 1; n <= 4; n++ {
		var ranks sync.WaitGroup
		for _, g := range local.New(n, time.Minute) {
			ranks.Go(func() {
				for name, err := range suite.Run(g) {
					t.Errorf("%s, rank %d of %d: %v", name, g.Rank(), n, err)
				}
				if err := g.Close(); err != nil {
					t.Errorf("Close, rank %d of %d: %v", g.Rank(), n, err)
				}
			})
		}
		ranks.Wait()
	}
}

func TestLocal_EndsAsTheContractSays(t *testing.T) {
	for _, c := range suite.Endings() {
		for n := 2; n <= 4; n++ {
			var ranks sync.WaitGroup
			for _, g := range local.New(n, 100*time.Millisecond) {
				ranks.Go(func() {
					if err := c.Run(g); err != nil {
						t.Errorf("%s, rank %d of %d: %v", c.Name, g.Rank(), n, err)
					}
				})
			}
			ranks.Wait()
		}
	}
}
