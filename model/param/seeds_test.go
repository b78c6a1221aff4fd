package param

import (
	"fmt"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/tensor"
)

// Each place with dropout has its own masks, and all masks change with the seed, as in every epoch.
func TestSeeds_DifferByPlaceAndSeed(t *testing.T) {
	device := tensor.NewCPU(1, "")
	defer func() { expect.OK(t, device.Close()) }()
	arena := tensor.NewArena(device)
	defer func() { expect.OK(t, arena.Close()) }()
	s, err := NewSeeds(arena, []string{"fc6", "fc7"})
	expect.OK(t, err)
	seen := map[string]string{}
	for _, seed := range []uint64{1, 2, 3} {
		expect.OK(t, s.Upload(device, seed))
		expect.OK(t, s.Upload(device, seed)) // which changes nothing
		for place, words := range s.Of {
			name, value := fmt.Sprintf("place %d with seed %d", place, seed), fmt.Sprint(words.Int32s())
			if other, ok := seen[value]; ok {
				t.Errorf("%s has the seed of %s", name, other)
			}
			seen[value] = name
		}
	}
}
