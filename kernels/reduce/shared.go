package reduce

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime/debug"

	"nmn/group"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
)

// Learned is a parameter of which every rank has a gradient, with what is the same on all ranks: the parameter itself,
// and what an optimizer keeps of it.
type Learned struct {
	G    *tensor.Tensor
	Same []*tensor.Tensor // of G's length; nil for none
}

// Shared are the tensors of parameters in memory that all ranks see. Each rank has its gradients there; of what is the
// same on all ranks there is one copy. Each rank sums and updates a part of every parameter, which it alone writes, and
// reads the rest.
//
// A step is Ready, Sum and Wait, at whose ends all ranks wait for one another, and three rules keep a rank from reading
// what another writes:
//
//   - Gradients are changed before Ready and behind Sum, and those of others are read within Sum alone.
//   - What is the same on all ranks is changed between Sum and Wait alone, each rank's part by itself.
//   - It is read outside of that; within it, each rank reads its own part.
//
// So nothing needs a lock, and a rank that is missing is known by its name, as in every call of a group.
//
// It serves one goroutine.
type Shared struct {
	group   group.Group
	device  update.Divider
	memory  *group.Memory
	learned []Learned
	cuts    []cut
	parts   []update.Part
	own     []float64 // sums of squares of the blocks of this rank's parts
	squares []float64 // of all blocks
	told    []byte
}

// cut is this rank's part of a parameter, which may be empty. It begins and ends between blocks.
type cut struct{ from, to int }

// Places at which the ranks wait for one another.
const (
	atMove   byte = 'm'
	atReady  byte = 'r'
	atNorm   byte = 'n'
	atUpdate byte = 'u'
)

// aligned is how many numbers fill whole cache lines.
func aligned(n int) int { return (n + 15) &^ 15 }

// Share moves the tensors of a device into memory that all ranks see, until Close. It is called on all ranks, with
// parameters of the same lengths and the same values in Same. It returns nil where the ranks can hold no memory
// together or the device is not a host's: gradients are then to be summed by a Reducer.
func Share(g group.Group, device tensor.Device, learned []Learned) (*Shared, error) {
	sharer, ok := g.(group.Sharer)
	divider, divides := device.(update.Divider)
	if !ok || !divides || g.Size() == 1 || !onHost(learned) {
		return nil, nil
	}
	gradients, same := 0, 0
	for _, l := range learned {
		gradients += aligned(l.G.Len())
		same += len(l.Same) * aligned(l.G.Len())
	}
	room := gradients
	if g.Rank() == 0 {
		room += same
	}
	memory, err := sharer.Share(room)
	switch {
	case errors.Is(err, group.ErrNotShared):
		return nil, nil
	case err != nil:
		return nil, err
	}
	s := &Shared{group: g, device: divider, memory: memory, learned: learned}
	s.divide()
	return s, s.move(gradients)
}

// onHost reports whether all tensors are float32 in the host's memory, of the lengths of their gradients.
func onHost(learned []Learned) bool {
	for _, l := range learned {
		if l.G.Float32s() == nil {
			return false
		}
		for _, t := range l.Same {
			if t.Float32s() == nil || t.Len() != l.G.Len() {
				return false
			}
		}
	}
	return true
}

// divide gives this rank its share of the blocks of all parameters: neighbouring ones.
func (s *Shared) divide() {
	blocks := 0
	for _, l := range s.learned {
		blocks += update.Blocks(l.G.Len())
	}
	from, to := group.Share(s.group, blocks)
	first := 0
	for _, l := range s.learned {
		n := l.G.Len()
		within := func(block int) int { return min(max(block-first, 0)*update.Block, n) }
		s.cuts = append(s.cuts, cut{within(from), within(to)})
		first += update.Blocks(n)
	}
	s.own, s.squares = make([]float64, to-from), make([]float64, blocks)
	s.told = make([]byte, 0, 8*len(s.own))
}

// move moves the tensors. Each rank brings its part of what is the same, so that its pages lie near it, and lets go of
// the memory where they were.
func (s *Shared) move(gradients int) error {
	rank, at, same := s.group.Rank(), 0, gradients
	for i, l := range s.learned {
		n, part := l.G.Len(), s.cuts[i]
		p := update.Part{Own: rank}
		for _, theirs := range s.memory.Ranks {
			p.Ranks = append(p.Ranks, theirs[at+part.from:at+part.to:at+part.to])
		}
		s.parts = append(s.parts, p)
		if err := l.G.Adopt(s.memory.Ranks[rank][at : at+n : at+n]); err != nil {
			return err
		}
		at += aligned(n)
		for _, t := range l.Same {
			memory := s.memory.Ranks[0][same : same+n : same+n]
			copy(memory[part.from:part.to], t.Float32s()[part.from:part.to])
			if err := t.Adopt(memory); err != nil {
				return err
			}
			same += aligned(n)
		}
	}
	debug.FreeOSMemory()
	return s.wait(atMove)
}

// Own views this rank's part of a tensor of parameter i, in one dimension; nil where it has none.
func (s *Shared) Own(i int, t *tensor.Tensor) (*tensor.Tensor, error) {
	part := s.cuts[i]
	if t == nil || part.from == part.to {
		return nil, nil
	}
	flat, err := t.Reshape(t.Len())
	if err != nil {
		return nil, err
	}
	return flat.Rows(part.from, part.to)
}

// Ready waits until all ranks have their gradients.
func (s *Shared) Ready() error { return s.wait(atReady) }

// Sum replaces this rank's part of its gradients by scale times the sum of those of all ranks, and waits until all
// ranks have done so: they no longer read the gradients of one another.
func (s *Shared) Sum(scale float32) error {
	if err := s.device.SumParts(s.own, s.parts, scale); err != nil {
		return err
	}
	s.told = append(s.told[:0], atNorm)
	for _, v := range s.own {
		s.told = binary.LittleEndian.AppendUint64(s.told, math.Float64bits(v))
	}
	all, err := s.group.Gather(s.told)
	if err != nil {
		return err
	}
	block := 0
	for rank, theirs := range all {
		if len(theirs) == 0 || theirs[0] != atNorm || (len(theirs)-1)%8 != 0 || (len(theirs)-1)/8 > len(s.squares)-block {
			return s.elsewhere(rank)
		}
		for theirs = theirs[1:]; len(theirs) > 0; theirs = theirs[8:] {
			s.squares[block] = math.Float64frombits(binary.LittleEndian.Uint64(theirs))
			block++
		}
	}
	return nil
}

// Norm is the Euclidean norm of the gradients of all parameters behind Sum, but for those with a learning rate of 0. It
// is added as update.Ops.GradNorm adds it, and has the same bits on all ranks. entries are those of the parameters.
func (s *Shared) Norm(entries []update.Entry) float32 {
	sum, block := 0.0, 0
	for i, l := range s.learned {
		behind := block + update.Blocks(l.G.Len())
		if entries[i].LR != 0 {
			for _, square := range s.squares[block:behind] {
				sum += square
			}
		}
		block = behind
	}
	return float32(math.Sqrt(sum))
}

// Wait waits until all ranks have changed their parts: what is the same on all ranks is whole again.
func (s *Shared) Wait() error { return s.wait(atUpdate) }

// wait waits until all ranks are at a place.
func (s *Shared) wait(at byte) error {
	s.told = append(s.told[:0], at)
	all, err := s.group.Gather(s.told)
	if err != nil {
		return err
	}
	for rank, theirs := range all {
		if len(theirs) != 1 || theirs[0] != at {
			return s.elsewhere(rank)
		}
	}
	return nil
}

func (s *Shared) elsewhere(rank int) error {
	return fmt.Errorf("reduce: rank %d (%s) is at another place of a step than rank %d", rank, s.group.Names()[rank],
		s.group.Rank())
}

// Close moves the tensors back into memory of this rank's own. Gradients lose their values, and give their memory back
// before the rest needs as much. All parts must be whole, or this rank must be about to fail; it waits for nobody.
func (s *Shared) Close() error {
	gradients := 0
	for _, l := range s.learned {
		gradients += aligned(l.G.Len())
	}
	if s.memory.Forget != nil {
		if err := s.memory.Forget(gradients); err != nil {
			return err
		}
	}
	for _, l := range s.learned {
		if err := l.G.Adopt(make([]float32, l.G.Len())); err != nil {
			return err
		}
		for _, t := range l.Same {
			own := make([]float32, t.Len())
			copy(own, t.Float32s())
			if err := t.Adopt(own); err != nil {
				return err
			}
		}
	}
	return s.memory.Close()
}
