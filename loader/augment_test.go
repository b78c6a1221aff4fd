package loader

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/loader/augment"
	"nmn/loader/picture"

	dense "gorgonia.org/tensor"
)

// textured are clips whose frames all show the same, pictures of 24×18 pixels with edges, noise and many colours.
type textured struct{ *clips }

func (s textured) Read(_ context.Context, bag, frame int, pic *picture.Picture) error {
	if err := s.broken[[2]int{bag, frame}]; err != nil {
		return err
	}
	pic.Resize(24, 18)
	for i := range pic.Pix {
		pic.Pix[i] = uint8(7*i*i + 31*i + 50*bag)
	}
	if pic.Orientation == picture.OrientationApply { // as of files that ask to be turned by a half
		for i, j := 0, len(pic.Pix)-1; i < j; i, j = i+1, j-1 {
			pic.Pix[i], pic.Pix[j] = pic.Pix[j], pic.Pix[i]
		}
	}
	return nil
}

func texturedSet(t testing.TB, frames ...int) *Set {
	c := &clips{frames: frames}
	set := clipSet(t, c)
	set.Source = textured{c}
	return set
}

func everyAugmentation() augment.Config {
	c := augment.Strong.Config()
	c.Jitter, c.Erasing.Probability, c.Mixup = augment.Light.Config().Jitter, .7, .5
	return c
}

func augmentConfig() Config {
	c := clipConfig()
	c.Size, c.Flip, c.Augment, c.Mean = 16, true, everyAugmentation(), [3]uint8{124, 117, 104}
	return c
}

// Results depend on seed and epoch, but neither on workers nor on where an epoch starts.
func TestAugment_BatchesAreThoseOfSeedAndEpoch(t *testing.T) {
	set := texturedSet(t, 1, 2, 3, 1, 5, 1, 2, 1, 1, 4)
	config := augmentConfig()
	config.Workers = 1
	one := mustReadEpoch(t, mustLoader(t, set, config), 3, 0)
	config.Workers, config.Prefetch = 4, 2
	l := mustLoader(t, set, config)
	mustReadEpoch(t, l, 2, 0) // leaves its memory for reuse
	if many := mustReadEpoch(t, l, 3, 0); !reflect.DeepEqual(one, many) {
		t.Error("workers and epochs before change batches")
	}
	if rest := mustReadEpoch(t, l, 3, 2); !reflect.DeepEqual(one[2:], rest) {
		t.Error("an epoch that is begun at its third batch differs")
	}
	if next := mustReadEpoch(t, l, 4, 0); reflect.DeepEqual(one[0].Pixels, next[0].Pixels) {
		t.Error("another epoch has the same pixels")
	}
	config.Seed++
	if other := mustReadEpoch(t, mustLoader(t, set, config), 3, 0); reflect.DeepEqual(one[0].Pixels, other[0].Pixels) {
		t.Error("another seed has the same pixels")
	}
}

func TestAugment_EpochsBeforeTheFirstStayAsTheyAre(t *testing.T) {
	set, config := texturedSet(t, 1, 2, 3, 1), augmentConfig()
	config.AugmentFrom = 2
	l := mustLoader(t, set, config)
	changed := mustReadEpoch(t, l, 2, 0) // its targets must not stay
	before := mustReadEpoch(t, l, 1, 0)
	config.Augment = augment.Config{}
	plain := mustLoader(t, set, config)
	if !reflect.DeepEqual(before, mustReadEpoch(t, plain, 1, 0)) {
		t.Error("the epoch before is changed")
	}
	if reflect.DeepEqual(changed[0].Pixels, mustReadEpoch(t, plain, 2, 0)[0].Pixels) || changed[0].Targets == nil {
		t.Error("the first epoch is not changed")
	}
}

// Each augmentation of pictures changes them alone, and all frames of a clip in the same way.
func TestAugment_FramesOfAClipAgree(t *testing.T) {
	all := everyAugmentation()
	for name, of := range map[string]augment.Config{
		"crop":    {Crop: augment.CropConfig{Area: augment.Range{.3, .6}}},
		"jitter":  {Jitter: all.Jitter},
		"rand":    {Rand: augment.RandConfig{Operations: 3, Magnitude: 20}},
		"erasing": {Erasing: augment.ErasingConfig{Probability: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			set, config := texturedSet(t, 3, 3, 3, 3), augmentConfig()
			config.BatchSize, config.Augment = 4, augment.Config{}
			plain := mustReadEpoch(t, mustLoader(t, set, config), 1, 0)[0]
			config.Augment = of
			changed := mustReadEpoch(t, mustLoader(t, set, config), 1, 0)[0]
			const canvas = 16 * 16 * 3
			differ := 0
			for n := range changed.N {
				first := int(changed.Offsets[n]) * canvas
				for frame := 1; frame < 3; frame++ {
					if !reflect.DeepEqual(changed.Pixels[first:first+canvas], changed.Pixels[first+frame*canvas:][:canvas]) {
						t.Errorf("frame %d of bag %d is changed otherwise than frame 0", frame, changed.Index[n])
					}
				}
				if !reflect.DeepEqual(changed.Pixels[first:first+canvas], plain.Pixels[first:first+canvas]) {
					differ++
				}
			}
			if differ < 3 {
				t.Errorf("%d of 4 bags are changed", differ)
			}
			if changed.Targets != nil || !reflect.DeepEqual(changed.Labels, plain.Labels) ||
				!reflect.DeepEqual(changed.Flips, plain.Flips) || !reflect.DeepEqual(changed.Keys, plain.Keys) {
				t.Error("labels, flips or keys are changed")
			}
		})
	}
}

// A bag and its labels are mixed by the same weight with the same partner, a clip frame by frame along its length. A
// bag whose partner cannot be used stays as it is.
func TestAugment_MixupMixesPixelsAndLabelsAlike(t *testing.T) {
	source := &clips{frames: []int{1, 3, 1, 2, 1, 1, 2}, size: [2]int{4, 4}}
	source.broken = map[[2]int]error{{3, 1}: ErrCorrupt}
	set, config := clipSet(t, source), clipConfig()
	config.BatchSize, config.MaxBadSamples, config.Flip = 7, 1, false
	config.Augment = augment.Config{Mixup: 1}
	draws := augment.NewDraws(config.Augment, config.Seed)
	b := mustReadEpoch(t, mustLoader(t, set, config), 5, 0)[0]
	if b.N != 6 {
		t.Fatalf("%d bags, want 6", b.N)
	}
	partners, order := make([]int, 7), make([]int, 7)
	draws.Pairs(partners, order, 5, 0)
	bags, alone := newOrder(set, config, 5).bags(nil, 0, 7), 0
	for n, bag := range b.Index {
		other := bags[partners[slices.Index(bags, bag)]]
		if other == 3 {
			other = bag
		}
		weight := draws.Weight(5, min(bag, other))
		own, others := source.frames[bag], source.frames[other]
		if other == bag {
			alone++
		}
		for frame := range own {
			want := (weight*int(level(bag, frame)) + (256-weight)*int(level(other, frame*others/own)) + 128) / 256
			at := (int(b.Offsets[n]) + frame) * 4 * 4 * 3
			if got := int(b.Pixels[at]); got != want {
				t.Errorf("bag %d frame %d has grey %d, want %d: %d parts of it and bag %d", bag, frame, got, want, weight, other)
			}
		}
		for c := range 3 {
			want := (float32(weight)*float32(bag>>c&1) + float32(256-weight)*float32(other>>c&1)) / 256
			if got := b.Targets[3*n+c]; got != want || b.Labels[3*n+c] != float32(bag>>c&1) {
				t.Errorf("bag %d class %d: target %v, want %v; label %v", bag, c, got, want, b.Labels[3*n+c])
			}
		}
	}
	if alone > 2 {
		t.Errorf("%d bags are not mixed", alone)
	}
}

// Targets that are unknown of one bag are unknown of the mixture.
func TestAugment_MixupOfSoftTargets(t *testing.T) {
	source := &clips{frames: []int{1, 1}}
	set, config := clipSet(t, source), clipConfig()
	config.BatchSize, config.Shuffle, config.Augment = 2, false, augment.Config{Mixup: 1}
	config.Targets = dense.New(dense.WithShape(2, 3), dense.WithBacking([]float32{.5, Unknown, 1, .25, 1, Unknown}))
	b := mustReadEpoch(t, mustLoader(t, set, config), 1, 0)[0]
	draws := augment.NewDraws(config.Augment, config.Seed)
	for n := range 2 {
		w := float32(draws.Weight(1, 0)) / 256
		own, other := []float32{.5, .25}[n], []float32{.5, .25}[1-n]
		if want := other + w*(own-other); b.Targets[3*n] != want || b.Targets[3*n+1] != Unknown ||
			b.Targets[3*n+2] != Unknown {
			t.Errorf("targets %v, want %v and two unknown", b.Targets[3*n:3*n+3], want)
		}
	}
}

func TestAugment_MixupOfFeatures(t *testing.T) {
	source := &clips{frames: []int{1, 1, 1}}
	set, config := clipSet(t, source), clipConfig()
	set.Source, set.Vectors = nil, vectors{source}
	config.Augment = everyAugmentation()
	if _, err := New(set, config); err == nil || !strings.Contains(err.Error(), "`train.augment.mixup` alone") {
		t.Errorf("crops of features: %v", err)
	}
	config.Augment = augment.Config{Mixup: 1}
	config.Targets = dense.New(dense.WithShape(3, 3), dense.WithBacking(make([]float32, 9)))
	between := 0
	for epoch := range 4 {
		for _, frames := range framesByBag(t, set, config, epoch) {
			if v := frames[0].vector[0]; v != float32(int(v)) {
				between++
			}
		}
	}
	if between < 4 { // 4 of the 8 with partners
		t.Errorf("%d vectors are mixtures", between)
	}
}

// Labels that are not in memory are mixed as those that are.
func TestAugment_MixupOfStreamedLabels(t *testing.T) {
	config := streamConfig()
	config.Flip, config.Augment = true, everyAugmentation()
	streamed := ragged(t)
	want := mustReadEpoch(t, mustLoader(t, mustHold(t, streamed), config), 1, 0)
	got := mustReadEpoch(t, mustLoader(t, streamed, config), 1, 0)
	if !reflect.DeepEqual(got, want) || got[0].Targets == nil {
		t.Error("streamed labels give other batches")
	}
}

// Pictures that have the size of the canvas are cropped and brought to it again; others are refused as without a crop.
func TestAugment_CropsOfPicturesThatAreNotFitted(t *testing.T) {
	set, config := texturedSet(t, 1), augmentConfig()
	config.Fit, config.Augment = picture.FitNone, augment.Config{Crop: augment.CropConfig{Area: augment.Range{.1, .5}}}
	if _, err := readEpoch(t, mustLoader(t, set, config), 0, 0); err == nil || !strings.Contains(err.Error(), "24×18") {
		t.Errorf("error %v", err)
	}
	whole := clipSet(t, &clips{frames: []int{1}, size: [2]int{16, 16}})
	b := mustReadEpoch(t, mustLoader(t, whole, config), 0, 0)[0]
	if fmt.Sprint(b.Sizes) != "[16 16]" {
		t.Errorf("a crop takes %v of a canvas of 16×16", b.Sizes)
	}
}

func TestValidate_NamesTheAugmentation(t *testing.T) {
	config := augmentConfig()
	config.Augment.Mixup = -1
	if err := config.Validate(); err == nil || !strings.Contains(err.Error(), "train.augment.mixup is -1") {
		t.Errorf("error %v", err)
	}
}
