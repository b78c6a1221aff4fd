package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
)

// clips are bags of several frames, of different lengths.
var clips = []int32{0, 3, 4, 9, 11}

// fillClips uploads random clips with random labels.
func fillClips(t testing.TB, n *Net) *Plan {
	t.Helper()
	frames, bags := int(clips[len(clips)-1]), len(clips)-1
	p := plan(t, n, frames, bags)
	fill(t, n, p, 0)
	put(t, n, p.Offsets, slices.Clone(clips))
	return p
}

func inChunks(t testing.TB, n *Net, frames int) *Plan {
	t.Helper()
	expect.OK(t, n.ChunkFrames(frames))
	return fillClips(t, n)
}

// However a batch is cut, logits and dropout are equal bit for bit. So are the results of the noise model if
// it sees no means. Gradients are equal except for the order of their sums.
func TestChunks_GradientsAreThoseOfTheWholeBatch(t *testing.T) {
	for name, change := range map[string]func(*Config, *StepOptions){
		"fd":           func(*Config, *StepOptions) {},
		"fd, detached": func(c *Config, _ *StepOptions) { c.NoiseDetach = true },
		"max":          func(c *Config, _ *StepOptions) { c.NoisePool = "max" },
		"fi":           func(c *Config, _ *StepOptions) { c.Noise = FeatureIndependent },
		"none, no mil": func(c *Config, _ *StepOptions) { c.Noise, c.MIL = NoNoise, false },
		"no last pool": func(c *Config, _ *StepOptions) { c.LastPool, c.FC6Pad = false, 1 },
		"large losses": func(c *Config, o *StepOptions) {
			c.Noise, o.LargeLosses = NoNoise, LargeLosses{CorrectLarge, 3}
		},
		"basic":                func(c *Config, _ *StepOptions) { *c = smallResNet(Basic, FeatureDependent) },
		"bottleneck":           func(c *Config, _ *StepOptions) { *c = smallResNet(Bottleneck, FeatureDependent) },
		"without noise, added": func(_ *Config, o *StepOptions) { o.WithoutNoise, o.Accumulate = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			c, o := small(FeatureDependent), StepOptions{Scale: .25, DropoutSeed: 9}
			change(&c, &o)
			n := unsettled(t, newNet(t, conform.OpenCPU(t, 2), c))
			run := func(chunk int) (p *Plan, g map[string][]float32) {
				p = inChunks(t, n, chunk)
				if err := n.Freeze(func(*Param) bool { return false }); err != nil { // clears the gradients
					t.Fatal(err)
				}
				if o.Accumulate {
					step(t, n, p, StepOptions{Scale: .1, DropoutSeed: 4})
				}
				step(t, n, p, o)
				return p, gradients(t, n)
			}
			p, want := run(0)
			logits, loss := values(t, n, p.Logits), values(t, n, p.Loss)
			for _, chunk := range []int{1, 2, 5, 10, 11, 40} {
				p, got := run(chunk)
				if !slices.Equal(values(t, n, p.Logits), logits) {
					t.Errorf("chunks of %d: other logits", chunk)
				}
				exact := c.Noise != FeatureDependent || c.NoisePool == "max" || o.WithoutNoise
				if err := close32(values(t, n, p.Loss), loss, 1e-6); err != nil ||
					exact && !slices.Equal(values(t, n, p.Loss), loss) {
					t.Errorf("chunks of %d: losses %v, want %v", chunk, values(t, n, p.Loss), loss)
				}
				sameGradients(t, fmt.Sprint("chunks of ", chunk), got, want, 5e-6)
			}
		})
	}
}

func TestChunks_ForwardIsThatOfTheWholeBatch(t *testing.T) {
	n := newNet(t, conform.OpenCPU(t, 1), small(FeatureIndependent))
	var want [][]float32
	for _, chunk := range []int{0, 3, 0} {
		p := inChunks(t, n, chunk)
		expect.OK(t, n.Forward(p, true))
		for i, result := range []*tensor.Tensor{p.Prob, p.Observed, p.BagLogit, p.Posterior, p.Loss} {
			got := values(t, n, result)
			if chunk == 0 && len(want) < 5 {
				want = append(want, got)
			}
			if !slices.Equal(got, want[i]) {
				t.Errorf("chunks of %d: result %d is %v, want %v", chunk, i, got, want[i])
			}
		}
	}
}

func TestChunks_TakeLessMemory(t *testing.T) {
	n := newNet(t, conform.OpenCPU(t, 2), small(FeatureDependent))
	whole := inChunks(t, n, 0)
	bytes := n.buffers.Bytes()
	if counted := n.ChunkBytes(whole.Frames, whole.Bags, whole.Frames, true); counted != bytes {
		t.Errorf("the whole batch takes %d bytes, %d are counted", bytes, counted)
	}
	p := inChunks(t, n, 4)
	if counted := n.ChunkBytes(p.Frames, p.Bags, n.chunkOf(p.Frames), true); counted != n.buffers.Bytes() ||
		counted > bytes/2 {
		t.Errorf("chunks of 4 of 11 frames take %d bytes, %d are counted; the whole takes %d",
			n.buffers.Bytes(), counted, bytes)
	}
}

func TestChunks_SayWhatTheyCannot(t *testing.T) {
	n := newNet(t, conform.OpenCPU(t, 1), small(FeatureDependent))
	p := inChunks(t, n, 4)
	expect.Refusal(t, expect.ErrorOf(n.Extract(nil, p, Pool5)), "", kernels.ErrUnsupported)
	if err := n.ChunkFrames(-1); err == nil {
		t.Error("chunks of -1 frames are accepted")
	}
}

// limited is a device with little free memory, which reports how much.
type limited struct {
	kernels.Card // methods not listed below are not called
	kernels.Backend
	free int
}

func (l *limited) Alloc(dtype tensor.DType, shape ...int) (*tensor.Tensor, error) {
	bytes := dtype.Size()
	for _, side := range shape {
		bytes *= side
	}
	if bytes > l.free {
		return nil, fmt.Errorf("%d bytes of %d: %w", bytes, l.free, kernels.ErrOutOfMemory)
	}
	l.free -= bytes
	return l.Backend.Alloc(dtype, shape...)
}

func (l *limited) Free(t *tensor.Tensor) error {
	l.free += t.Len() * t.DType().Size()
	return l.Backend.Free(t)
}

func (l *limited) FreeBytes() (int, error) { return l.free, nil }
func (l *limited) MostBytes() int          { return 0 }

// If a bag does not fit in one piece, the error proposes chunks, and with these it fits.
func TestPlan_TellsWhichChunksWouldFit(t *testing.T) {
	counting := newNet(t, conform.OpenCPU(t, 1), small(FeatureDependent))
	room := counting.ChunkBytes(26, 1, 7, true)
	backend := &limited{Backend: conform.OpenCPU(t, 1), free: 1 << 30}
	n := newNet(t, backend, small(FeatureDependent))
	backend.free = room
	_, err := n.Plan(26, 1, true)
	if !errors.Is(err, kernels.ErrOutOfMemory) ||
		!strings.Contains(err.Error(), "would fit in chunks of 7 frames (`train.chunk_frames` 7)") {
		t.Fatalf("error %v", err)
	}
	backend.free = room
	expect.OK(t, n.ChunkFrames(7))
	if p, err := n.Plan(26, 1, true); err != nil || len(p.chunks) != 4 {
		t.Errorf("chunks of 7 frames: %v", err)
	}
}
