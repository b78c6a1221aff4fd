package launch

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"nmn/ranks"
	"nmn/ranks/local"
)

func TestShare_IsAmongRanksOfTheSameProcessors(t *testing.T) {
	where := []string{"a 0-7", "a 0-7", "a 8-15", "b 0-7", "a 0-7"}
	var ranks sync.WaitGroup
	for i, g := range local.New(len(where), time.Hour) {
		ranks.Go(func() {
			want := 8
			if where[i] == "a 0-7" {
				want = 2
			}
			if got, err := share(g, []byte(where[i]), 8); err != nil || got != want {
				t.Errorf("rank %d: %d, %v; want %d", i, got, err, want)
			}
			if got, err := share(g, nil, 3); err != nil || got != 1 {
				t.Errorf("more ranks than processors: %d, %v", got, err)
			}
		})
	}
	ranks.Wait()
}

func TestProcessors_AreAllOfARankAlone(t *testing.T) {
	if n, err := Processors(ranks.Alone{}); err != nil || n != runtime.GOMAXPROCS(0) {
		t.Errorf("%d, %v", n, err)
	}
}
