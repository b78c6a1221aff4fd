package ranksuite_test

import (
	"maps"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nmn/ranks"
	"nmn/ranks/local"
	"nmn/tools/ranksuite"
)

// liar breaks the contract in one way.
type liar struct {
	ranks.Group
	breaks string
	begun  []sum
}

type sum struct {
	x    []float32
	wire ranks.Wire
}

func (l *liar) Sum(x []float32, wire ranks.Wire) error {
	if l.breaks == "wire" {
		wire = ranks.Float32
	}
	l.begun = append(l.begun, sum{x, wire})
	return l.Group.Sum(x, wire)
}

func (l *liar) Wait() error {
	err := l.Group.Wait()
	for i, s := range l.begun {
		x := s.x
		switch {
		case len(x) == 0:
		case l.breaks == "last" && i > 0:
			x[len(x)-1]++
		case l.breaks == "noise" && l.Rank() == 1:
			x[len(x)-1] = math.Float32frombits(math.Float32bits(x[len(x)-1]) ^ 1)
		case l.breaks == "NaN" && x[0] != x[0]:
			x[0] = 0
		case l.breaks == "scale":
			x[len(x)/2] *= 1.01
		}
	}
	l.begun = l.begun[:0]
	return err
}

func (l *liar) Gather(own []byte) ([][]byte, error) {
	all, err := l.Group.Gather(own)
	if l.breaks == "gather" && err == nil {
		slices.Reverse(all)
	}
	return all, err
}

func (l *liar) Broadcast(data []byte) error {
	kept := slices.Clone(data)
	err := l.Group.Broadcast(data)
	if l.breaks == "broadcast" && l.Rank() > 0 {
		copy(data, kept)
	}
	return err
}

func (l *liar) Rank() int {
	if l.breaks == "rank" {
		return l.Group.Rank() / 2
	}
	return l.Group.Rank()
}

func (l *liar) Local() int {
	if l.breaks == "local" {
		return l.Size()
	}
	return l.Group.Local()
}

func (l *liar) Names() []string {
	if l.breaks == "names" {
		return make([]string, l.Size())
	}
	return l.Group.Names()
}

func TestRun_FindsWhatBreaksTheContract(t *testing.T) {
	for breaks, want := range map[string]string{
		"":          "",
		"wire":      "SumInBFloat16",
		"last":      "SumsBegunTogether",
		"noise":     "Sum",
		"NaN":       "SumOfNaNAndInfinity",
		"scale":     "Sum",
		"gather":    "Gather",
		"broadcast": "Broadcast",
		"rank":      "Identity",
		"local":     "Identity",
		"names":     "Identity",
	} {
		if testing.Short() && !slices.Contains([]string{"", "wire", "noise", "gather", "names"}, breaks) {
			continue // each runs the whole suite
		}
		var mu sync.Mutex
		found := map[string]error{}
		synctest.Test(t, func(*testing.T) { // a rank that lies may leave the others waiting
			var ranks sync.WaitGroup
			for _, g := range local.New(2, time.Second) {
				ranks.Go(func() {
					wrong := ranksuite.Run(&liar{Group: g, breaks: breaks})
					mu.Lock()
					defer mu.Unlock()
					maps.Copy(found, wrong)
				})
			}
			ranks.Wait()
		})
		if _, is := found[want]; breaks != "" && !is || breaks == "" && len(found) > 0 {
			t.Errorf("%q: %v", breaks, found)
		}
	}
}
