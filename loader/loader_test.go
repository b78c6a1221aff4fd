package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/internal/memory"
	"nmn/internal/rng"
	"nmn/loader/picture"
	"nmn/text"

	dense "gorgonia.org/tensor"
)

// clips is a source of bags with different numbers of frames, each frame of one grey level that
// shows bag and frame; broken frames give ErrCorrupt.
type clips struct {
	frames  []int
	broken  map[[2]int]error
	size    [2]int        // size of the pictures, 0 for 4×2
	block   chan struct{} // if set, Read waits for ctx
	reading atomic.Int32
}

func (c *clips) Frames(bag int) int { return c.frames[bag] }

func (c *clips) Read(ctx context.Context, bag, frame int, pic *picture.Picture) error {
	if c.block != nil {
		c.reading.Add(1)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.block:
		}
	}
	if err := c.broken[[2]int{bag, frame}]; err != nil {
		return err
	}
	pic.Resize(4, 2)
	if c.size[0] > 0 {
		pic.Resize(c.size[0], c.size[1])
	}
	for i := range pic.Pix {
		pic.Pix[i] = level(bag, frame)
	}
	return nil
}

func level(bag, frame int) uint8 { return uint8(1 + bag*5 + frame) }

// clipSet has one class per bit of the bag's index.
func clipSet(t testing.TB, source *clips) *Set {
	t.Helper()
	const k = 3
	vocabulary, err := text.NewVocabulary([]text.Word{{Text: "a"}, {Text: "b"}, {Text: "c"}})
	expect.OK(t, err)
	n := len(source.frames)
	labels := make([]uint8, n*k)
	set := &Set{Name: "clips", Vocabulary: vocabulary, Source: source}
	for i := range n {
		set.IDs = append(set.IDs, fmt.Sprintf("clip-%d", i))
		for c := range k {
			labels[i*k+c] = uint8(i >> c & 1)
		}
	}
	set.Labels = dense.New(dense.WithShape(n, k), dense.WithBacking(labels))
	return set
}

func clipConfig() Config {
	c := DefaultConfig()
	c.BatchSize, c.Size, c.Fit = 3, 4, picture.FitLongest
	return c
}

func mustLoader(t testing.TB, set *Set, config Config) *Loader {
	t.Helper()
	l, err := New(set, config)
	expect.OK(t, err)
	return l
}

// batchCopy is a batch as plain values, which stay when it is released.
type batchCopy struct {
	Number, N, T         int
	Pixels, Flips        []uint8
	Sizes, Keys, Offsets []int32
	Labels, Targets      []float32
	Index                []int
	IDs                  []string
	Shapes               []string
}

func copyBatch(b *Batch) batchCopy {
	if b.N == 0 && b.Pixels == nil {
		return batchCopy{Number: b.Number, T: b.T}
	}
	c := batchCopy{
		Number: b.Number, N: b.N, T: b.T,
		Pixels: append([]uint8(nil), b.Pixels.Uint8s()...), Flips: append([]uint8(nil), b.Flips.Uint8s()...),
		Sizes: append([]int32(nil), b.Sizes.Int32s()...), Keys: append([]int32(nil), b.Keys.Int32s()...),
		Offsets: append([]int32(nil), b.Offsets.Int32s()...), Labels: append([]float32(nil), b.Labels.Float32s()...),
		Index: append([]int(nil), b.Index...), IDs: append([]string(nil), b.IDs...),
	}
	if b.Targets != nil {
		c.Targets = append([]float32(nil), b.Targets.Float32s()...)
	}
	for _, d := range []*dense.Dense{b.Pixels, b.Sizes, b.Flips, b.Keys, b.Offsets, b.Labels} {
		c.Shapes = append(c.Shapes, fmt.Sprint([]int(d.Shape())))
	}
	return c
}

// readEpoch reads an epoch to its end.
func readEpoch(t testing.TB, l *Loader, epoch, start int) ([]batchCopy, error) {
	t.Helper()
	e, err := l.Epoch(context.Background(), epoch, start)
	expect.OK(t, err)
	defer e.Close()
	var all []batchCopy
	for {
		b, err := e.Next(context.Background())
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, copyBatch(b))
		b.Release()
	}
}

func mustReadEpoch(t testing.TB, l *Loader, epoch, start int) []batchCopy {
	t.Helper()
	all, err := readEpoch(t, l, epoch, start)
	expect.OK(t, err)
	return all
}

// noisyPicture has as many pixels as a canvas, and no two alike.
type noisyPicture struct{}

// noisySize is the width and height of noisy pictures, in pixels.
const noisySize = 48

func (noisyPicture) Frames(int) int { return 1 }

func (noisyPicture) Read(_ context.Context, bag, _ int, pic *picture.Picture) error {
	pic.Resize(noisySize, noisySize)
	stream := rng.New(2, bag)
	for i := range pic.Pix {
		pic.Pix[i] = uint8(stream.Uint32())
	}
	return nil
}

// noisyPictures is a set of n pictures whose labels are the bits of their numbers.
func noisyPictures(t testing.TB, n int) *Set {
	t.Helper()
	set := &Set{Name: "noisy", Vocabulary: vocabularyOf(t, "one", "two", "four"), IDs: numbered(n), Source: noisyPicture{}}
	labels := make([]uint8, 3*n)
	for i := range labels {
		labels[i] = uint8(i / 3 >> (i % 3) & 1)
	}
	set.Labels = Matrix(labels, 3)
	return set
}

func raggedClips() *clips { return &clips{frames: []int{1, 3, 2, 1, 4, 1, 2, 5, 1, 3, 1}} }

func TestLoader_RaggedBags(t *testing.T) {
	source := raggedClips()
	config := clipConfig()
	config.Shuffle = false
	all := mustReadEpoch(t, mustLoader(t, clipSet(t, source), config), 0, 0)
	if len(all) != 4 {
		t.Fatalf("%d batches, want 4", len(all))
	}
	bag := 0
	for number, b := range all {
		if b.Number != number || len(b.Offsets) != b.N+1 || b.Offsets[0] != 0 || int(b.Offsets[b.N]) != b.T {
			t.Fatalf("batch %d is number %d, N %d, T %d, offsets %v", number, b.Number, b.N, b.T, b.Offsets)
		}
		want := []string{fmt.Sprintf("[%d 4 4 3]", b.T), fmt.Sprintf("[%d 2]", b.T), fmt.Sprintf("[%d]", b.T),
			fmt.Sprintf("[%d]", b.T), fmt.Sprintf("[%d]", b.N+1), fmt.Sprintf("[%d 3]", b.N)}
		if !reflect.DeepEqual(b.Shapes, want) {
			t.Errorf("batch %d has shapes %v, want %v", number, b.Shapes, want)
		}
		for n := range b.N {
			if b.Index[n] != bag || b.IDs[n] != fmt.Sprintf("clip-%d", bag) {
				t.Fatalf("bag %d of batch %d is %d (%s), want %d", n, number, b.Index[n], b.IDs[n], bag)
			}
			if frames := int(b.Offsets[n+1] - b.Offsets[n]); frames != source.frames[bag] {
				t.Errorf("bag %d has %d frames, want %d", bag, frames, source.frames[bag])
			}
			for c := range 3 {
				if b.Labels[3*n+c] != float32(bag>>c&1) {
					t.Errorf("bag %d has labels %v", bag, b.Labels[3*n:3*n+3])
				}
			}
			for f := b.Offsets[n]; f < b.Offsets[n+1]; f++ {
				pixels := b.Pixels[int(f)*48 : int(f+1)*48]
				if got, want := pixels[0], level(bag, int(f-b.Offsets[n])); got != want || pixels[23] != want || pixels[24] != 0 {
					t.Errorf("bag %d frame %d: pixels %v", bag, f-b.Offsets[n], pixels)
				}
				if b.Sizes[2*f] != 2 || b.Sizes[2*f+1] != 4 {
					t.Errorf("size %v, want 2×4 (height, width)", b.Sizes[2*f:2*f+2])
				}
			}
			bag++
		}
	}
	if bag != len(source.frames) {
		t.Errorf("%d bags, want %d", bag, len(source.frames))
	}
}

func TestLoader_OneBagOfOneFrame(t *testing.T) {
	set, config := clipSet(t, &clips{frames: []int{1}}), clipConfig()
	config.Size = 1
	all := mustReadEpoch(t, mustLoader(t, set, config), 0, 0)
	if len(all) != 1 || all[0].N != 1 || all[0].T != 1 {
		t.Fatalf("%+v", all)
	}
	want := []string{"[1 1 1 3]", "[1 2]", "[1]", "[1]", "[2]", "[1 3]"}
	if !reflect.DeepEqual(all[0].Shapes, want) || all[0].Pixels[0] != level(0, 0) {
		t.Errorf("shapes %v, want %v; pixels %v", all[0].Shapes, want, all[0].Pixels)
	}
}

func TestLoader_SameForAnyWorkersAndPrefetch(t *testing.T) {
	set := noisyPictures(t, 50)
	config := clipConfig()
	config.BatchSize, config.Size, config.Fit = 7, noisySize, picture.FitNone
	config.Workers, config.Prefetch = 1, 1
	want := mustReadEpoch(t, mustLoader(t, set, config), 3, 0)
	for _, other := range [][2]int{{5, 1}, {5, 6}, {2, 3}} {
		config.Workers, config.Prefetch = other[0], other[1]
		if got := mustReadEpoch(t, mustLoader(t, set, config), 3, 0); !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers and %d batches ahead give another epoch", other[0], other[1])
		}
	}
}

func TestLoader_ResumeEqualsUnbroken(t *testing.T) {
	source := raggedClips()
	source.broken = map[[2]int]error{{4, 1}: ErrCorrupt}
	config := clipConfig()
	config.MaxBadSamples = 1
	whole := mustReadEpoch(t, mustLoader(t, clipSet(t, source), config), 2, 0)
	for start := range len(whole) + 1 {
		got := mustReadEpoch(t, mustLoader(t, clipSet(t, source), config), 2, start)
		if len(got)+len(whole[start:]) > 0 && !reflect.DeepEqual(got, whole[start:]) {
			t.Errorf("from batch %d: another epoch", start)
		}
	}
	l := mustLoader(t, clipSet(t, source), config)
	for _, at := range [][2]int{{0, -1}, {0, 5}, {-1, 0}} {
		if _, err := l.Epoch(context.Background(), at[0], at[1]); err == nil {
			t.Errorf("epoch %d from batch %d: no error", at[0], at[1])
		}
	}
}

func TestLoader_EveryBagOnceInANewOrder(t *testing.T) {
	set := noisyPictures(t, 100)
	config := clipConfig()
	config.BatchSize, config.Size, config.Fit = 8, noisySize, picture.FitNone
	l := mustLoader(t, set, config)
	var orders [][]int
	flips := 0
	keys := map[int32]bool{}
	for epoch := range 4 {
		var order []int
		for _, b := range mustReadEpoch(t, l, epoch, 0) {
			order = append(order, b.Index...)
			for i, flip := range b.Flips {
				flips += int(flip)
				keys[b.Keys[i]] = true
			}
		}
		seen := map[int]bool{}
		for _, i := range order {
			seen[i] = true
		}
		if len(order) != 100 || len(seen) != 100 {
			t.Fatalf("epoch %d has %d bags, %d different", epoch, len(order), len(seen))
		}
		for _, earlier := range orders {
			if reflect.DeepEqual(earlier, order) {
				t.Error("two epochs have the same order")
			}
		}
		orders = append(orders, order)
	}
	if flips < 150 || flips > 250 {
		t.Errorf("%d of 400 are mirrored, want about half", flips)
	}
	if len(keys) != 400 {
		t.Errorf("%d different dropout keys for 400 frames", len(keys))
	}
	config.Flip, config.Shuffle = false, false
	plain := mustReadEpoch(t, mustLoader(t, set, config), 1, 0)
	if len(plain) != 13 || plain[11].Index[7] != 95 || plain[12].N != 4 {
		t.Errorf("%d batches, want 13 in the order of the set", len(plain))
	}
	for _, b := range plain {
		for _, flip := range b.Flips {
			if flip != 0 {
				t.Fatal("mirrored without Flip")
			}
		}
	}
}

func TestLoader_BadSamplesAreLeftOutAndCounted(t *testing.T) {
	source := raggedClips()
	// Bag 0 alone; bag 4 by its third frame; bags 6, 7 and 8, which are a whole batch.
	source.broken = map[[2]int]error{}
	for _, at := range [][2]int{{0, 0}, {4, 2}, {6, 0}, {7, 4}, {8, 0}} {
		source.broken[at] = fmt.Errorf("cannot decode %q: %w", fmt.Sprintf("clip-%d/%d.jpg", at[0], at[1]), ErrCorrupt)
	}
	set, config := clipSet(t, source), clipConfig()
	config.Shuffle, config.MaxBadSamples, config.Workers = false, 5, 3
	l := mustLoader(t, set, config)
	for epoch := range 2 {
		var index, numbers []int
		for _, b := range mustReadEpoch(t, l, epoch, 0) {
			index, numbers = append(index, b.Index...), append(numbers, b.Number)
			for n, bag := range b.Index {
				for f := b.Offsets[n]; f < b.Offsets[n+1]; f++ {
					if got, want := b.Pixels[int(f)*48], level(bag, int(f-b.Offsets[n])); got != want {
						t.Errorf("bag %d, frame %d: level %d, want %d", bag, f-b.Offsets[n], got, want)
					}
				}
			}
		}
		if want := []int{1, 2, 3, 5, 9, 10}; !reflect.DeepEqual(index, want) {
			t.Errorf("bags %v, want %v", index, want)
		}
		if want := []int{0, 1, 3}; !reflect.DeepEqual(numbers, want) {
			t.Errorf("batches %v, want %v", numbers, want)
		}
		if got := l.Stats().BadSamples; got != 5 {
			t.Errorf("%d bad samples after epoch %d, want 5", got, epoch)
		}
	}
	for limit, first := range map[int]string{0: "clip-0", 2: "clip-6", 4: "clip-0"} {
		config.MaxBadSamples = limit
		_, err := readEpoch(t, mustLoader(t, set, config), 0, 0)
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), first) ||
			!strings.Contains(err.Error(), fmt.Sprintf("%d clips", limit+1)) ||
			!strings.Contains(err.Error(), "`data.max_bad_samples`") {
			t.Errorf("at most %d: %v", limit, err)
		}
	}
}

func TestLoader_StopsAtErrorsThatAreNotAboutOnePicture(t *testing.T) {
	source := raggedClips()
	fault := errors.New("too many open files")
	source.broken = map[[2]int]error{{5, 0}: fault}
	config := clipConfig()
	config.MaxBadSamples = 100
	if _, err := readEpoch(t, mustLoader(t, clipSet(t, source), config), 0, 0); !errors.Is(err, fault) {
		t.Errorf("%v, want the fault", err)
	}
	config.Fit = picture.FitNone // 4×2 does not fit 4×4
	_, err := readEpoch(t, mustLoader(t, clipSet(t, raggedClips()), config), 0, 0)
	if err == nil || !strings.Contains(err.Error(), "4×2") || !strings.Contains(err.Error(), "clip-") {
		t.Errorf("%v, want the sizes and the id", err)
	}
}

// noGoroutinesLeft waits until no more goroutines run than before: the test's own deadline shows what is left.
func noGoroutinesLeft(before int) {
	for runtime.NumGoroutine() > before {
		time.Sleep(time.Millisecond)
	}
}

func TestLoader_CancellationReachesEveryWorker(t *testing.T) {
	before := runtime.NumGoroutine()
	source := raggedClips()
	source.block = make(chan struct{})
	config := clipConfig()
	config.Workers = 3
	l := mustLoader(t, clipSet(t, source), config)
	for name, end := range map[string]func(e *Epoch, cancelEpoch, cancelNext context.CancelFunc){
		"epoch": func(_ *Epoch, cancelEpoch, _ context.CancelFunc) { cancelEpoch() },
		"next":  func(_ *Epoch, _, cancelNext context.CancelFunc) { cancelNext() },
	} {
		outer, cancelEpoch := context.WithCancel(context.Background())
		inner, cancelNext := context.WithCancel(context.Background())
		source.reading.Store(0) // before the workers of the epoch begin
		e, err := l.Epoch(outer, 0, 0)
		expect.OK(t, err)
		go func() {
			for source.reading.Load() < 3 {
				time.Sleep(time.Millisecond)
			}
			end(e, cancelEpoch, cancelNext)
		}()
		if _, err := e.Next(inner); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := e.Next(context.Background()); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a later call gives %v", name, err)
		}
		cancelEpoch()
		cancelNext()
	}
	noGoroutinesLeft(before)
	if waited := l.Stats().Waited; waited <= 0 {
		t.Errorf("waited %v", waited)
	}
}

func TestLoader_CloseAndAbandonLeaveNothingRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	l := mustLoader(t, clipSet(t, raggedClips()), clipConfig())
	e, err := l.Epoch(context.Background(), 0, 0)
	expect.OK(t, err)
	if _, err := e.Next(context.Background()); err != nil {
		t.Fatal(err)
	}
	e.Close()
	e.Close()
	if _, err := e.Next(context.Background()); err == nil || err == io.EOF {
		t.Errorf("after Close: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := l.Epoch(ctx, 0, 0); err != nil { // never read
		t.Fatal(err)
	}
	cancel()
	noGoroutinesLeft(before)
}

func TestLoader_BatchesThatAreKeptStayWhole(t *testing.T) {
	config := clipConfig()
	config.Prefetch = 1
	l := mustLoader(t, clipSet(t, raggedClips()), config)
	e, err := l.Epoch(context.Background(), 0, 0)
	expect.OK(t, err)
	defer e.Close()
	var kept []*Batch
	var copies []batchCopy
	for {
		b, err := e.Next(context.Background())
		if err == io.EOF {
			break
		}
		expect.OK(t, err)
		kept, copies = append(kept, b), append(copies, copyBatch(b))
	}
	for i, b := range kept {
		if !reflect.DeepEqual(copyBatch(b), copies[i]) {
			t.Errorf("batch %d changed while it was held", i)
		}
		b.Release()
		b.Release()
	}
	if len(l.free) != len(kept) {
		t.Errorf("%d batches are free after %d were released twice", len(l.free), len(kept))
	}
}

// Soft targets and evidence take the place of labels.
func TestLoader_TargetsAndEvidence(t *testing.T) {
	set := clipSet(t, raggedClips())
	n := set.Len()
	matrix := func(rows, columns int, values []float32) *dense.Dense {
		return dense.New(dense.WithShape(rows, columns), dense.WithBacking(values))
	}
	for what, c := range map[string]struct {
		value func(i int) float32
		bad   []float64
		put   func(*Config, *dense.Dense)
	}{
		"target": {func(i int) float32 { return float32(i) / 100 }, []float64{math.NaN(), 1.5},
			func(c *Config, m *dense.Dense) { c.Targets = m }},
		"evidence": {func(i int) float32 { return float32(i-9) * 1e3 }, []float64{math.NaN(), math.Inf(1), math.Inf(-1)},
			func(c *Config, m *dense.Dense) { c.Evidence = m }},
	} {
		values, config := make([]float32, 3*n), clipConfig()
		for i := range values {
			values[i] = c.value(i)
		}
		c.put(&config, matrix(n, 3, values))
		for _, b := range mustReadEpoch(t, mustLoader(t, set, config), 0, 0) {
			for n, bag := range b.Index {
				if !reflect.DeepEqual(b.Targets[3*n:3*n+3], values[3*bag:3*bag+3]) {
					t.Errorf("%s of bag %d is %v", what, bag, b.Targets[3*n:3*n+3])
				}
			}
		}
		for _, v := range c.bad {
			values[4] = float32(v)
			if _, err := New(set, config); err == nil || !strings.Contains(err.Error(), what+" of sample 1 (clip-1), class 1") {
				t.Errorf("%s %g: %v", what, v, err)
			}
		}
		c.put(&config, matrix(3, n, make([]float32, 3*n)))
		if _, err := New(set, config); err == nil || !strings.Contains(err.Error(), what+" for") {
			t.Errorf("%s of another shape: %v", what, err)
		}
	}
	both := clipConfig()
	both.Targets = matrix(n, 3, make([]float32, 3*n))
	both.Evidence = both.Targets
	if _, err := New(set, both); err == nil || !strings.Contains(err.Error(), "leave out one") {
		t.Errorf("evidence with targets: %v", err)
	}
}

func TestLoader_RefusesBadConfigAndSet(t *testing.T) {
	set := clipSet(t, raggedClips())
	for name, change := range map[string]func(*Config, *Set){
		"no bags per batch": func(c *Config, _ *Set) { c.BatchSize = 0 },
		"no size":           func(c *Config, _ *Set) { c.Size = 0 },
		"no workers":        func(c *Config, _ *Set) { c.Workers = 0 },
		"no prefetch":       func(c *Config, _ *Set) { c.Prefetch = 0 },
		"negative limit":    func(c *Config, _ *Set) { c.MaxBadSamples = -1 },
		"unknown fit":       func(c *Config, _ *Set) { c.Fit = "fill" },
		"no bags":           func(_ *Config, s *Set) { s.IDs = nil },
		"no source":         func(_ *Config, s *Set) { s.Source = nil },
		"no labels":         func(_ *Config, s *Set) { s.Labels = nil },
		"labels of others":  func(_ *Config, s *Set) { s.IDs = s.IDs[1:] },
		"a bag of no frames": func(_ *Config, s *Set) {
			s.Source = &clips{frames: make([]int, s.Len())}
		},
		"gigabytes per batch": func(c *Config, s *Set) {
			many := make([]int, s.Len())
			for i := range many {
				many[i] = 1000
			}
			s.Source, c.Size = &clips{frames: many}, 1<<14
		},
	} {
		config, changed := clipConfig(), *set
		change(&config, &changed)
		if _, err := New(&changed, config); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := New(nil, clipConfig()); err == nil {
		t.Error("no set: no error")
	}
}

func TestLoader_AppliesItsPixelLimitToFiles(t *testing.T) {
	root := t.TempDir()
	expect.OK(t, os.WriteFile(filepath.Join(root, "a.jpg"), greyJPEG(t, 20, 20, 9), 0o644))
	set := clipSet(t, &clips{frames: []int{1}})
	set.Source = newTestSource(t, root, "a.jpg")
	config := clipConfig()
	config.MaxPixels = 399
	if _, err := readEpoch(t, mustLoader(t, set, config), 0, 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("400 pixels at a limit of 399: %v", err)
	}
	config.MaxPixels = 0
	if _, err := readEpoch(t, mustLoader(t, set, config), 0, 0); err != nil {
		t.Error(err)
	}
}

func TestLoader_SteadyStateAllocatesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("loads 6400 pictures twice")
	}
	plain := DefaultConfig()
	plain.Size, plain.Fit = noisySize, picture.FitNone
	changed := plain
	changed.Augment = everyAugmentation()
	for name, config := range map[string]Config{"plain": plain, "augmented": changed} {
		t.Run(name, func(t *testing.T) { allocatesNothing(t, config) })
	}
}

func allocatesNothing(t *testing.T, config Config) {
	t.Helper()
	set := noisyPictures(t, 3200)
	l := mustLoader(t, set, config)
	mustReadEpoch(t, l, 1, 0)
	e, err := l.Epoch(context.Background(), 0, 0)
	expect.OK(t, err)
	defer e.Close()
	next := func() {
		b, err := e.Next(context.Background())
		expect.OK(t, err)
		b.Release()
	}
	// Make more batches than can ever be on the way, then let each get its tensors.
	var held []*Batch
	for range config.Prefetch + 2 {
		b, err := e.Next(context.Background())
		expect.OK(t, err)
		held = append(held, b)
	}
	for _, b := range held {
		b.Release()
	}
	for range 2 * config.Prefetch {
		next()
	}
	if n := testing.AllocsPerRun(60, next); n > 0 {
		t.Errorf("%v allocations per batch", n)
	}
}

// Batches that fill the memory would end the program without a message, so New checks their size.
func TestLoader_BatchesAreHeldAgainstTheFreeMemory(t *testing.T) {
	if _, known := memory.Free(); !known {
		t.Skip("this system does not say how much memory is free")
	}
	config := clipConfig()
	config.Size, config.BatchSize, config.Prefetch = 8192, 3, 1<<10 // batches of 3 GB each
	_, err := New(clipSet(t, raggedClips()), config)
	if !errors.Is(err, memory.ErrFull) || !strings.Contains(err.Error(), "1026 batches need") {
		t.Error(err)
	}
}
