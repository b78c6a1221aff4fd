package loader

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"nmn/internal/expect"
)

// countedMemory is Go's memory, and counts what it has given out.
type countedMemory struct {
	mutex  sync.Mutex
	given  map[*byte]int
	allocs int
	fails  error
}

func (m *countedMemory) Alloc(bytes int) ([]byte, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.fails != nil {
		return nil, m.fails
	}
	memory := make([]byte, bytes)
	m.given[unsafe.SliceData(memory)] = bytes
	m.allocs++
	return memory, nil
}

func (m *countedMemory) Free(memory []byte) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.given[unsafe.SliceData(memory)] != len(memory) {
		return errors.New("this was not given out")
	}
	delete(m.given, unsafe.SliceData(memory))
	return nil
}

func TestMemory_HoldsThePixelsOfBatches(t *testing.T) {
	set, config := clipSet(t, raggedClips()), clipConfig()
	want := mustReadEpoch(t, mustLoader(t, set, config), 1, 0)
	memory := &countedMemory{given: map[*byte]int{}}
	config.Memory = memory
	l := mustLoader(t, set, config)
	if got := mustReadEpoch(t, l, 1, 0); !reflect.DeepEqual(got, want) {
		t.Error("batches depend on whose memory they are in")
	}
	epoch, err := l.Epoch(t.Context(), 1, 0)
	expect.OK(t, err)
	defer epoch.Close()
	batch, err := epoch.Next(t.Context())
	expect.OK(t, err)
	memory.mutex.Lock() // the planner takes memory for the next batches
	given := memory.given[unsafe.SliceData(batch.Pixels.Uint8s())]
	memory.mutex.Unlock()
	if given == 0 {
		t.Error("the pixels of a batch do not begin where memory was given")
	}
}

// Batches that were not delivered when an epoch ended are reused, in any state.
func TestMemory_DoesNotGrowWithEpochsThatEndEarly(t *testing.T) {
	memory := &countedMemory{given: map[*byte]int{}}
	config := clipConfig()
	config.Memory, config.Workers, config.Prefetch = memory, 2, 3
	l := mustLoader(t, clipSet(t, raggedClips()), config)
	most := config.Prefetch + 2 // one more is with the consumer, one with the planner
	for round := range 60 {
		ctx, cancel := context.WithCancel(t.Context())
		epoch, err := l.Epoch(ctx, round, 0)
		expect.OK(t, err)
		for range round % 3 {
			batch, err := epoch.Next(ctx)
			expect.OK(t, err)
			batch.Release()
		}
		if round%2 == 0 {
			cancel()
			if batch, err := epoch.Next(ctx); err == nil { // which was there already
				batch.Release()
			}
		}
		epoch.Close()
		cancel()
		if len(memory.given) > most {
			t.Fatalf("after %d epochs there are %d batches, want %d at most", round+1, len(memory.given), most)
		}
	}
	want := mustReadEpoch(t, mustLoader(t, clipSet(t, raggedClips()), clipConfig()), 7, 0)
	if got := mustReadEpoch(t, l, 7, 0); !reflect.DeepEqual(got, want) {
		t.Error("an epoch after many that ended early is another one")
	}
}

func TestMemory_ThatCannotBeHadEndsTheEpoch(t *testing.T) {
	config := clipConfig()
	config.Memory = &countedMemory{fails: errors.New("all is taken")}
	_, err := readEpoch(t, mustLoader(t, clipSet(t, raggedClips()), config), 0, 0)
	if err == nil || !strings.Contains(err.Error(), "all is taken") ||
		!strings.Contains(err.Error(), "lower the batch size") {
		t.Errorf("error %v", err)
	}
}
