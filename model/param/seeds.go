package param

import (
	"fmt"

	"nmn/internal/rng"
	"nmn/kernels/tensor"

	dense "gorgonia.org/tensor"
)

// Seeds hold the seeds of dropout on the device. They change from epoch to epoch, while a recorded step reads
// the same memory whenever it is replayed. The zero value suits a net without dropout.
type Seeds struct {
	// Of has the seed of each place with dropout: int32 2, its lower and its upper word.
	Of []*tensor.Tensor

	purposes []string       // keep the masks of the places apart
	all      *tensor.Tensor // int32 M×2, the memory of the tensors from Of
	host     *dense.Dense
	sent     uint64 // seed that all was made from
	uploaded bool   // whether it has been uploaded
}

// NewSeeds makes room for the seeds of places, each with the purpose that its seed is derived for.
func NewSeeds(arena *tensor.Arena, purposes []string) (s Seeds, err error) {
	s.purposes = purposes
	if s.all, err = arena.Alloc(tensor.Int32, len(purposes), 2); err != nil {
		return s, fmt.Errorf("cannot hold the seeds of dropout: %w", err)
	}
	var v Views
	for i := range purposes {
		s.Of = append(s.Of, v.Row(s.all, i))
	}
	s.host = dense.New(dense.WithShape(len(purposes), 2), dense.WithBacking(make([]int32, 2*len(purposes))))
	return s, v.Err
}

// Upload derives the seeds of all places from one seed and uploads them, unless the device already has them.
func (s *Seeds) Upload(device tensor.Device, seed uint64) error {
	if s.all == nil || s.uploaded && s.sent == seed {
		return nil
	}
	words := s.host.Int32s()
	for i, purpose := range s.purposes {
		derived := rng.Derive(seed, purpose)
		words[2*i], words[2*i+1] = int32(derived), int32(derived>>32)
	}
	s.uploaded = false
	if err := device.Upload(s.all, s.host); err != nil {
		return fmt.Errorf("the seeds of dropout: %w", err)
	}
	s.sent, s.uploaded = seed, true
	return nil
}
