package s2vt

import (
	"fmt"

	"nmn/internal/rng"
	"nmn/kernels/tensor"

	dense "gorgonia.org/tensor"
)

// site is a place where the net has dropout.
type site int

const (
	frameSite site = iota // input of LSTM 1
	wordSite              // words that LSTM 2 sees
	saidSite              // output of LSTM 2
	sites
)

// sitePurpose keeps the masks of the sites apart.
var sitePurpose = [sites]string{"s2vt/frame", "s2vt/word", "s2vt/said"}

// seeds are those of the masks, on the device.
type seeds struct {
	all  *tensor.Tensor        // int32 sites×2: lower and upper word
	of   [sites]*tensor.Tensor // one row each
	host *dense.Dense
	sent uint64 // what all was made from
	up   bool   // whether it has been uploaded
}

// build makes room for the seeds.
func (s *seeds) build(arena *tensor.Arena) (err error) {
	if s.all, err = arena.Alloc(tensor.Int32, int(sites), 2); err != nil {
		return fmt.Errorf("s2vt: cannot hold the seeds of dropout: %w", err)
	}
	v := &viewer{}
	for i := range s.of {
		s.of[i] = v.row(s.all, i)
	}
	s.host = dense.New(dense.WithShape(int(sites), 2), dense.WithBacking(make([]int32, 2*sites)))
	return v.err
}

// upload makes the masks those of a seed, where they are not yet.
func (s *seeds) upload(device tensor.Device, seed uint64) error {
	if s.up && s.sent == seed {
		return nil
	}
	words := s.host.Int32s()
	for i, purpose := range sitePurpose {
		derived := rng.Derive(seed, purpose)
		words[2*i], words[2*i+1] = int32(derived), int32(derived>>32)
	}
	s.up = false
	if err := device.Upload(s.all, s.host); err != nil {
		return fmt.Errorf("s2vt: the seeds of dropout: %w", err)
	}
	s.sent, s.up = seed, true
	return nil
}
