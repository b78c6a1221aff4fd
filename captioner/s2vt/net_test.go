package s2vt

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/kernels"
	"nmn/kernels/conv"
	"nmn/kernels/simd"
	"nmn/kernels/tensor"
	"nmn/tools/conform"
)

// eachDevice calls f with the device that the environment names, and with the host at every level of
// instructions where it names none.
func eachDevice(t *testing.T, f func(t *testing.T, device kernels.Backend)) {
	if os.Getenv(conform.DeviceEnv) != "" {
		f(t, conform.OpenDevice(t, 2))
		return
	}
	for _, level := range simd.Levels() {
		t.Run(level.String(), func(t *testing.T) { f(t, openCPU(t, level.String(), 2)) })
	}
}

func openCPU(t testing.TB, level string, threads int) kernels.Backend {
	t.Helper()
	device, err := kernels.OpenCPU(kernels.CPUConfig{SIMD: level, Threads: threads})
	expect.OK(t, err)
	t.Cleanup(func() { expect.OK(t, device.Close()) })
	return device
}

// dropping is a small net with dropout, and a batch for it.
func dropping(t testing.TB, threads int) (*Net, *Batch) {
	t.Helper()
	c := small()
	c.Dropout = .5
	return newNet(t, openCPU(t, "", threads), c), uneven(c)
}

// newNet makes a net that can learn.
func newNet(t testing.TB, device kernels.Backend, c Config) *Net {
	t.Helper()
	n, err := New(c, device)
	expect.OK(t, err)
	t.Cleanup(func() { expect.OK(t, n.Close()) })
	expect.OK(t, n.Learn())
	expect.OK(t, n.Init(7))
	return n
}

// small is a net of uneven sizes, whose dimensions are no multiples of anything.
func small() Config {
	return Config{Frames: 4, Features: 5, Vocabulary: 9, Embedding: 4, Words: 3, Hidden: 6}
}

// uneven is a batch with clips and captions of several lengths, the first clip with fewer frames than the
// second.
func uneven(c Config) *Batch {
	stream := rng.New(11)
	b := &Batch{Captions: [][]int32{{3, 8, 5}, {4}, {5, 3, 3, 7, 6}}, Samples: []int{12, 3, 40}}
	for _, frames := range []int{2, 4, 3} {
		features := make([]float32, frames*c.Features)
		for i := range features {
			features[i] = float32(stream.Normal(0, 1))
		}
		b.Features = append(b.Features, features)
	}
	return b
}

// valuesOf copies a tensor of a net from the device.
func valuesOf(t testing.TB, n *Net, of *tensor.Tensor) []float32 {
	t.Helper()
	values := make([]float32, of.Len())
	expect.OK(t, n.backend.Download(tensor.HostArray(tensor.Float32, values), of))
	return values
}

// gradients copies the gradients of all parameters from the device.
func gradients(t testing.TB, n *Net) map[string][]float32 {
	t.Helper()
	all := map[string][]float32{}
	for _, p := range n.Params() {
		all[p.Name] = valuesOf(t, n, p.G)
	}
	return all
}

func run(t testing.TB, n *Net, b *Batch, dropoutSeed uint64) float64 {
	t.Helper()
	w, err := n.Place(b, dropoutSeed)
	expect.OK(t, err)
	expect.OK(t, n.Enqueue(w))
	loss, _, err := n.Wait(w)
	expect.OK(t, err)
	return loss
}

func TestStep_EqualsTheReferenceAndItsCentralDifferences(t *testing.T) {
	eachDevice(t, func(t *testing.T, device kernels.Backend) {
		n := newNet(t, device, small())
		b := uneven(n.Config())
		r := newReference(t, n)
		r.compare(t, n, b)
		features := inputGradient(t, n, b)
		for clip := range b.Features {
			values := r.features(b, clip)
			compareGradient(t, fmt.Sprintf("features of clip %d", clip), features[clip], values, func() float64 {
				return r.loss(b)
			})
		}
		clear(r.inputs)
		r.compare(t, n, long(n.Config(), 9)) // with a tail
	})
}

// compare compares the loss of a step and the gradients of all parameters.
func (r *reference) compare(t *testing.T, n *Net, b *Batch) {
	t.Helper()
	loss := func() float64 { return r.loss(b) }
	if got, want := run(t, n, b, 0), loss(); !(math.Abs(got-want) < 1e-5) {
		t.Errorf("loss %v, want %v", got, want)
	}
	all := gradients(t, n)
	for name, values := range r.params {
		compareGradient(t, name, all[name], values, loss)
	}
}

// compareGradient moves each value by a little and looks how the loss follows.
func compareGradient(t *testing.T, name string, got []float32, values []float64, loss func() float64) {
	t.Helper()
	const h = 1e-5
	if len(got) != len(values) {
		t.Fatalf("%s: %d gradients for %d values", name, len(got), len(values))
	}
	for i, v := range values {
		values[i] = v + h
		above := loss()
		values[i] = v - h
		below := loss()
		values[i] = v
		if want := (above - below) / (2 * h); !(math.Abs(float64(got[i])-want) < 2e-6+1e-4*math.Abs(want)) {
			t.Errorf("gradient of element %d of %s is %v, want %v", i, name, got[i], want)
			return
		}
	}
}

// inputGradient gives the gradient of the features of each clip after a step. No net needs it; it shows that
// what reaches the lowest layer is right.
func inputGradient(t *testing.T, n *Net, b *Batch) [][]float32 {
	t.Helper()
	p, err := n.planFor(b)
	expect.OK(t, err)
	expect.OK(t, n.backend.ConvGradData(p.features, p.dembedded, n.p.embedW.filter, nil, conv.Params{}))
	values := valuesOf(t, n, p.features)
	width, clips := n.config.Features, len(b.Features)
	all := make([][]float32, clips)
	for i, features := range b.Features {
		for frame := p.frames - len(features)/width; frame < p.frames; frame++ {
			row := frame*clips + i
			all[i] = append(all[i], values[row*width:(row+1)*width]...)
		}
	}
	return all
}

func TestStep_SameBitsForAnyNumberOfThreads(t *testing.T) {
	for _, level := range simd.Levels() {
		var want map[string][]float32
		var loss float64
		for _, threads := range []int{1, 2, 5} {
			c := small()
			c.Dropout, c.Vocabulary, c.Hidden = .4, 301, 37
			n := newNet(t, openCPU(t, level.String(), threads), c)
			got, all := 0.0, map[string][]float32{}
			for _, b := range []*Batch{uneven(c), long(c, 16)} { // without and with a tail
				got += run(t, n, b, 5)
				for name, g := range gradients(t, n) {
					all[name] = append(all[name], g...)
				}
			}
			if want == nil {
				want, loss = all, got
			}
			if got != loss {
				t.Errorf("%v: losses %v with %d threads, %v with one", level, got, threads, loss)
			}
			for name := range want {
				sameBits(t, fmt.Sprintf("%v, %d threads: gradient of %s", level, threads, name), all[name], want[name])
			}
		}
	}
}

func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

func TestStep_AllocatesNothingForShapesItHasSeen(t *testing.T) {
	c := small()
	c.Dropout = .3
	n := newNet(t, openCPU(t, "", 2), c)
	b := uneven(c)
	shorter := &Batch{Features: b.Features[:2], Captions: b.Captions[:2], Samples: b.Samples[:2]}
	tailed, seed := long(c, 16), uint64(0)
	once := func() {
		seed++
		for _, b := range []*Batch{b, shorter, tailed} {
			run(t, n, b, seed)
		}
	}
	once()
	once()
	if allocations := testing.AllocsPerRun(20, once); allocations > 0 {
		t.Errorf("three steps allocate %v times", allocations)
	}
}

// What else is in a batch changes neither the loss of a caption nor, therefore, the sum of gradients.
func TestStep_CaptionsDoNotDependOnTheRestOfTheBatch(t *testing.T) {
	n, b := dropping(t, 2)
	together := run(t, n, b, 9) * 3
	apart, sums := 0.0, map[string][]float64{}
	all := gradients(t, n)
	for i := range b.Captions {
		one := &Batch{Features: b.Features[i : i+1], Captions: b.Captions[i : i+1], Samples: b.Samples[i : i+1]}
		apart += run(t, n, one, 9)
		for name, g := range gradients(t, n) {
			if sums[name] == nil {
				sums[name] = make([]float64, len(g))
			}
			for j, v := range g {
				sums[name][j] += float64(v)
			}
		}
	}
	if math.Abs(together-apart) > 1e-5 {
		t.Errorf("losses sum to %v in one batch and to %v in three", together, apart)
	}
	for name, sum := range sums {
		for j, want := range sum {
			if got := float64(all[name][j]) * 3; !(math.Abs(got-want) < 1e-5+1e-4*math.Abs(want)) {
				t.Errorf("gradient of element %d of %s: %v in one batch, %v in three", j, name, got, want)
				break
			}
		}
	}
}

// A clip begins where its first frame is: before it the states of both LSTMs are 0, and what cells and
// gradients may have is lost in anything that is added to it.
func TestStep_NothingHappensBeforeTheFirstFrame(t *testing.T) {
	eachDevice(t, func(t *testing.T, device kernels.Backend) {
		n := newNet(t, device, small())
		b := uneven(n.Config())
		run(t, n, b, 0)
		p, err := n.planFor(b)
		expect.OK(t, err)
		for _, x := range []struct {
			name string
			of   *tensor.Tensor
			most float64
		}{
			{"h1", p.lower.h, 0}, {"h2", p.upper.h, 0}, {"c1", p.lower.c, 1e-37}, {"c2", p.upper.c, 1e-37},
			{"gradient of gates 1", p.lower.gates, 1e-37}, {"gradient of gates 2", p.upper.gates, 1e-37},
		} {
			values := valuesOf(t, n, x.of)
			width := x.of.Dim(2)
			for frame := range 2 { // the first clip has two frames of four
				for _, v := range values[frame*p.clips*width:][:width] {
					if !(math.Abs(float64(v)) <= x.most) {
						t.Errorf("%s is %v before the first frame", x.name, v)
						break
					}
				}
			}
			if !(math.Abs(float64(values[2*p.clips*width])) > 1e-9) {
				t.Errorf("%s is still %v at the first frame", x.name, values[2*p.clips*width])
			}
		}
	})
}

func TestStep_DropoutFollowsSeedAndSample(t *testing.T) {
	n, b := dropping(t, 1)
	first := run(t, n, b, 1)
	if second := run(t, n, b, 1); second != first {
		t.Errorf("loss %v and then %v with the same seed", first, second)
	}
	if other := run(t, n, b, 2); other == first {
		t.Error("another seed drops the same")
	}
	b.Samples[0]++
	if other := run(t, n, b, 1); other == first {
		t.Error("another sample drops the same")
	}
}

// The mean over masks is the net without dropout: what is kept is scaled up.
func TestStep_EveryPlaceOfDropoutIsInUse(t *testing.T) {
	n, b := dropping(t, 1)
	run(t, n, b, 3)
	p, err := n.planFor(b)
	expect.OK(t, err)
	for name, x := range map[string]*tensor.Tensor{"embedded frames": p.embedded, "words": p.seen,
		"states that say": p.outputs} {
		values := valuesOf(t, n, x)
		zeros := 0
		for _, v := range values {
			if v == 0 {
				zeros++
			}
		}
		if share := float64(zeros) / float64(len(values)); share < .3 {
			t.Errorf("%s: %.2f of them are 0", name, share)
		}
	}
}

// Under one seed the masks stay, so that the gradient is that of a function that can be looked at: a small move of
// a parameter along its gradient changes the loss by the gradient's length. A gradient that forgets a mask has
// another length and another direction.
func TestStep_GradientsGoThroughTheMasksOfDropout(t *testing.T) {
	n, b := dropping(t, 1)
	run(t, n, b, 3)
	all := gradients(t, n)
	for _, p := range n.Params() {
		length := 0.0
		for _, g := range all[p.Name] {
			length += float64(g) * float64(g)
		}
		length = math.Sqrt(length)
		values := valuesOf(t, n, p.W)
		lossAt := func(way float64) float64 {
			moved := make([]float32, len(values))
			for i, v := range values {
				moved[i] = v + float32(way*float64(all[p.Name][i])/length)
			}
			expect.OK(t, n.SetValues(p, moved))
			return run(t, n, b, 3)
		}
		const h = 1e-2
		slope := (lossAt(h) - lossAt(-h)) / (2 * h)
		expect.OK(t, n.SetValues(p, values))
		if !(length > 0) || !(math.Abs(slope-length) < 1e-3+1e-2*length) {
			t.Errorf("along the gradient of %s the loss rises by %v, want the gradient's length, %v", p.Name, slope, length)
		}
	}
}

func TestStep_RefusesWhatDoesNotFit(t *testing.T) {
	c := small()
	c.Dropout = .5
	n := newNet(t, openCPU(t, "", 1), c)
	for name, change := range map[string]func(*Batch){
		"no clips":              func(b *Batch) { b.Features, b.Captions, b.Samples = nil, nil, nil },
		"a caption too few":     func(b *Batch) { b.Captions = b.Captions[1:] },
		"no sample numbers":     func(b *Batch) { b.Samples = nil },
		"an empty caption":      func(b *Batch) { b.Captions[1] = nil },
		"EOS in a caption":      func(b *Batch) { b.Captions[1] = []int32{EOS} },
		"an unknown word":       func(b *Batch) { b.Captions[1] = []int32{9} },
		"a negative word":       func(b *Batch) { b.Captions[1] = []int32{-1} },
		"a clip without frames": func(b *Batch) { b.Features[0] = nil },
		"half a frame":          func(b *Batch) { b.Features[0] = b.Features[0][:7] },
		"too many frames":       func(b *Batch) { b.Features[0] = make([]float32, 25) },
	} {
		b := uneven(c)
		change(b)
		if _, err := n.Place(b, 0); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	other, err := New(c, n.Backend())
	expect.OK(t, err)
	if _, err := other.Place(uneven(c), 0); err == nil {
		t.Error("a step without gradients")
	}
}

func TestConfig_NamesTheFieldThatIsWrong(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"frames": func(c *Config) { c.Frames = 0 }, "features": func(c *Config) { c.Features = 1 << 30 },
		"vocabulary": func(c *Config) { c.Vocabulary = 3 },
		"embedding":  func(c *Config) { c.Embedding = -1 }, "words": func(c *Config) { c.Words = 0 },
		"hidden":  func(c *Config) { c.Hidden = 0 },
		"dropout": func(c *Config) { c.Dropout = math.NaN() },
	} {
		c := Paper(1000, 23647)
		expect.OK(t, c.Validate())
		change(&c)
		if err := c.Validate(); err == nil || !contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConfig_ParametersAreCounted(t *testing.T) {
	n := newNet(t, openCPU(t, "", 1), small())
	total := 0
	for _, p := range n.Params() {
		total += p.W.Len()
	}
	if got := n.Config().Parameters(); got != float64(total) {
		t.Errorf("%v parameters, there are %d", got, total)
	}
}

func TestInit_DependsOnTheSeedAlone(t *testing.T) {
	n := newNet(t, openCPU(t, "", 1), small())
	values := func() []float32 { return valuesOf(t, n, n.p.word.W) }
	first := values()
	expect.OK(t, n.Init(8))
	if math.Float32bits(values()[0]) == math.Float32bits(first[0]) {
		t.Error("another seed gives the same words")
	}
	expect.OK(t, n.Init(7))
	sameBits(t, "words of the same seed", values(), first)
	bias := valuesOf(t, n, n.p.lstm1.b.W)
	for i, v := range bias {
		if want := float32(map[bool]int{true: forgetBias}[i/n.config.Hidden == 1]); v != want {
			t.Errorf("bias %d of LSTM 1 starts at %v, want %v", i, v, want)
		}
	}
}

// Where room has been made for the largest batch, no batch moves the net's memory: recorded work names it.
func TestReserve_HoldsAllBatchesUpToItsSize(t *testing.T) {
	c := small()
	n := newNet(t, openCPU(t, "", 1), c)
	stream, most := rng.New(5), Size{Clips: 9, Frames: c.Frames, Words: 12}
	batches := make([]*Batch, 60)
	for i := range batches {
		b, said := &Batch{}, 0
		for range 1 + stream.Intn(most.Clips) {
			words := make([]int32, 1+stream.Intn(min(most.Words, 1+i)))
			for j := range words {
				words[j] = Reserved
			}
			b.Features = append(b.Features, make([]float32, c.Features*(1+stream.Intn(c.Frames))))
			b.Captions, b.Samples = append(b.Captions, words), append(b.Samples, i)
			said += len(words) + 1
		}
		batches[i], most.Said = b, max(most.Said, said)
	}
	expect.OK(t, n.Reserve(most))
	held := n.Bytes()
	seen := map[Work]bool{}
	for _, b := range batches {
		w, err := n.Place(b, 0)
		expect.OK(t, err)
		again, err := n.Place(b, 0)
		expect.OK(t, err)
		if w != again {
			t.Fatalf("%v: the same batch is other work", w)
		}
		seen[w] = true
	}
	if n.Bytes() != held {
		t.Errorf("%d bytes after %d batches, %d were reserved", n.Bytes(), len(batches), held)
	}
	if len(seen) == len(batches) {
		t.Error("every batch has a shape of its own")
	}
}

// Rows that round the number of words up say nothing: the loss and all gradients are those without them, bit for bit
// on the host, which leaves them out.
func TestStep_RowsWithoutAWordChangeNothing(t *testing.T) {
	n := newNet(t, openCPU(t, "", 2), small())
	b := uneven(n.Config())
	loss, want := run(t, n, b, 0), gradients(t, n)
	p, err := n.planFor(b)
	expect.OK(t, err)
	key := p.planKey
	key.words += 5 * rounded
	wide, err := n.planOf(key)
	expect.OK(t, err)
	n.plans[p.planKey] = wide
	if got := run(t, n, b, 0); got != loss {
		t.Errorf("loss %v, want %v", got, loss)
	}
	for name, values := range gradients(t, n) {
		sameBits(t, name, values, want[name])
	}
}

// long is a batch of clips and captions of many lengths, most of them short, and the longest ones not the first.
func long(c Config, clips int) *Batch {
	stream, b := rng.New(13), &Batch{}
	for i := range clips {
		words := make([]int32, 1+stream.Intn(3))
		if i%5 == 2 {
			words = make([]int32, 6+stream.Intn(4))
		}
		for l := range words {
			words[l] = int32(Reserved + stream.Intn(c.Vocabulary-Reserved))
		}
		features := make([]float32, c.Features*(1+stream.Intn(c.Frames)))
		for j := range features {
			features[j] = float32(stream.Normal(0, 1))
		}
		b.Features, b.Captions, b.Samples = append(b.Features, features), append(b.Captions, words), append(b.Samples, 3*i)
	}
	return b
}

// Rows that are left out are those that change nothing: with all of them losses and gradients are the same.
func TestTail_RowsThatAreLeftOutChangeNothing(t *testing.T) {
	eachDevice(t, func(t *testing.T, device kernels.Backend) {
		c := small()
		c.Dropout = .3
		n := newNet(t, device, c)
		if n.wide {
			t.Skip("a card computes all rows")
		}
		for _, clips := range []int{9, 16, 21} {
			b := long(c, clips)
			before := slices.Clone(b.Samples)
			got := run(t, n, b, 3)
			p, err := n.planFor(n.arranged(b))
			expect.OK(t, err)
			if p.planKey.tail.steps < 2 || p.places() >= p.steps*p.clips {
				t.Fatalf("%d clips have the tail %+v, want one", clips, p.planKey.tail)
			}
			if !slices.Equal(b.Samples, before) {
				t.Fatal("the caller's batch has been rearranged")
			}
			packed := gradients(t, n)
			n.wide = true
			want := run(t, n, b, 3)
			n.wide = false
			if !(math.Abs(got-want) < 1e-5) {
				t.Errorf("%d clips: loss %v, want %v", clips, got, want)
			}
			for name, values := range gradients(t, n) {
				for i, v := range values {
					if !(math.Abs(float64(packed[name][i]-v)) < 1e-5) {
						t.Fatalf("%d clips: %s[%d] is %v, want %v", clips, name, i, packed[name][i], v)
					}
				}
			}
		}
	})
}
