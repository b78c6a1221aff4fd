package reduce

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"nmn/group"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
	"nmn/kernels/update"
)

// The memory of a host, with the operations of an update.
type (
	memory  = tensor.CPU
	updates = update.CPU
	updater struct {
		*memory
		*updates
	}
)

func newUpdater(t *testing.T) updater {
	device := tensor.NewCPU(1, "test")
	t.Cleanup(func() { device.Close() })
	level, err := simd.Detect()
	must(t, err)
	return updater{device, update.NewCPU(device, level)}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

func vector(t *testing.T, values ...float32) *tensor.Tensor {
	t.Helper()
	x, err := tensor.OfFloat32s(values, len(values))
	must(t, err)
	return x
}

// parameters are those that a rank learns: gradients that depend on the rank, weights that do not.
func parameters(t *testing.T, device tensor.Device, rank int) (learned []Learned, entries []update.Entry) {
	for i, n := range []int{3, 2*update.Block + 5, update.Block, 7} {
		l := Learned{G: filled(t, device, rank, n), Same: []*tensor.Tensor{filled(t, device, 5, n), filled(t, device, 6, n)}}
		learned = append(learned, l)
		entries = append(entries, update.Entry{G: l.G, W: l.Same[0], M: l.Same[1], LR: float32(i)})
	}
	return learned, entries
}

// Ranks that hold parameters together learn, by two steps, what one learns from the sum of their gradients, bit for
// bit; the first parameter rests. What they learned is theirs behind Close.
func TestShared_LearnsWhatOneRankLearnsFromTheSum(t *testing.T) {
	for _, ranks := range []int{2, 3, 4, 9} {
		alone := newUpdater(t)
		wanted, whole := parameters(t, alone, 0)
		norm := vector(t, 0)
		for range 2 {
			for i, l := range wanted {
				for k := range l.G.Float32s() {
					l.G.Float32s()[k] = 0
					for rank := range ranks {
						l.G.Float32s()[k] += gradient(rank, i, k)
					}
				}
			}
			must(t, alone.Clip(whole, vector(t, 4), 1), alone.GradNorm(norm, whole), alone.SGD(whole, .5))
		}
		each(t, ranks, func(g group.Group) {
			if err := learnTogether(t, g, newUpdater(t), wanted, norm.Float32s()[0]); err != nil {
				t.Errorf("%d ranks, rank %d: %v", ranks, g.Rank(), err)
				g.Abort(err)
			}
		})
	}
}

// gradient is element k of the gradient of parameter i on a rank.
func gradient(rank, i, k int) float32 { return float32((k+1)*(rank+i+1)%1000) / 16 }

func learnTogether(t *testing.T, g group.Group, device updater, wanted []Learned, norm float32) error {
	learned, entries := parameters(t, device, g.Rank())
	s, err := Share(g, device, learned)
	if err != nil || s == nil {
		return fmt.Errorf("shared %v: %w", s, err)
	}
	var own []update.Entry
	for i, e := range entries {
		for _, x := range []**tensor.Tensor{&e.G, &e.W, &e.M} {
			if *x, err = s.Own(i, *x); err != nil {
				return err
			}
		}
		if e.G != nil {
			own = append(own, e)
		}
	}
	for range 2 {
		for i, l := range learned {
			for k := range l.G.Float32s() {
				l.G.Float32s()[k] = gradient(g.Rank(), i, k)
			}
		}
		if err := errors.Join(s.Ready(), s.Sum(.25)); err != nil {
			return err
		}
		if err := errors.Join(device.SGD(own, .5), s.Wait()); err != nil {
			return err
		}
	}
	if got := s.Norm(entries); got != norm {
		return fmt.Errorf("norm %g, want %g", got, norm)
	}
	for _, when := range []string{"together", "behind Close"} {
		for i, l := range learned {
			for k, x := range l.Same {
				if !slices.Equal(x.Float32s(), wanted[i].Same[k].Float32s()) {
					return fmt.Errorf("%s: tensor %d of parameter %d is not that of one rank", when, k, i)
				}
			}
		}
		if when == "together" {
			if _, err := g.Gather(nil); err != nil { // all have read
				return err
			}
			if err := s.Close(); err != nil {
				return err
			}
			entries[1].W.Float32s()[0]++ // of no other rank
			wanted = slices.Clone(wanted)
			same := slices.Clone(wanted[1].Same[0].Float32s())
			same[0]++
			wanted[1].Same = []*tensor.Tensor{vector(t, same...), wanted[1].Same[1]}
		}
	}
	return nil
}

// A gradient of one rank that is not finite shows on all.
func TestShared_NotFiniteShowsEverywhere(t *testing.T) {
	each(t, 3, func(g group.Group) {
		device := newUpdater(t)
		learned, entries := parameters(t, device, g.Rank())
		s, err := Share(g, device, learned)
		must(t, err)
		learned[1].G.Float32s()[update.Block+3] = 1
		if g.Rank() == 1 {
			learned[1].G.Float32s()[update.Block+3] = float32(math.NaN())
		}
		must(t, s.Ready(), s.Sum(1))
		if norm := s.Norm(entries); norm == norm {
			t.Errorf("rank %d: norm %g", g.Rank(), norm)
		}
	})
}

// A rank that has come to another place of a step is known.
func TestShared_AnotherPlaceIsRefused(t *testing.T) {
	each(t, 2, func(g group.Group) {
		device := newUpdater(t)
		learned, _ := parameters(t, device, g.Rank())
		s, err := Share(g, device, learned)
		must(t, err)
		if g.Rank() == 1 {
			err = s.Wait()
		} else {
			err = s.Ready()
		}
		if err == nil {
			t.Errorf("rank %d goes on", g.Rank())
		}
		if g.Rank() == 1 {
			err = s.Ready()
		} else {
			err = s.Sum(1)
		}
		if err == nil {
			t.Errorf("rank %d goes on from its sum", g.Rank())
		}
	})
}

// apart is a group without memory of its own kind.
type apart struct{ group.Group }

// refusing is one whose ranks cannot hold memory together after all.
type refusing struct{ group.Group }

func (refusing) Share(int) (*group.Memory, error) {
	return nil, fmt.Errorf("here: %w", group.ErrNotShared)
}

// Where ranks can hold no memory together there is nothing, and tensors stay where they are.
func TestShare_IsNothingWhereRanksHaveNoMemoryTogether(t *testing.T) {
	each(t, 2, func(g group.Group) {
		device := newUpdater(t)
		learned, _ := parameters(t, device, g.Rank())
		before := &learned[0].G.Float32s()[0]
		for name, c := range map[string]struct {
			group   group.Group
			device  tensor.Device
			learned []Learned
		}{
			"no sharer":     {apart{g}, device, learned},
			"refused":       {refusing{g}, device, learned},
			"one rank":      {group.Alone{}, device, learned},
			"no divider":    {g, device.memory, learned},
			"other lengths": {g, device, []Learned{{G: learned[0].G, Same: learned[1].Same}}},
		} {
			if s, err := Share(c.group, c.device, c.learned); s != nil || err != nil {
				t.Errorf("%s: %v, %v", name, s, err)
			}
		}
		if &learned[0].G.Float32s()[0] != before {
			t.Error("a tensor has moved")
		}
	})
}
