package loader

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"nmn/internal/memory"
	"nmn/loader/augment"
	"nmn/loader/picture"

	dense "gorgonia.org/tensor"
)

// Config configures how a Loader makes batches of a Set.
type Config struct {
	BatchSize int         // bags per batch; with a Share of bags, of the batch of all ranks
	Size      int         // width and height of the canvas, pixels; feature vectors have none
	Fit       picture.Fit // how pictures get onto the canvas
	// Resize is the filter for that, and Orientation whether pictures are turned upright before; the zero values are
	// FilterBilinear and OrientationIgnore.
	Resize      picture.Filter
	Orientation picture.Orientation
	// Preprocessing replaces Fit and Resize for pictures of a pretrained net; its Crop is Size. Nil for none.
	// Pictures are then neither mirrored nor augmented.
	Preprocessing *picture.Preprocessing
	Flip          bool // mirror half of the bags, drawn anew each epoch
	Shuffle       bool // a new order each epoch
	// Block and Window are for sets that are ByBlocks: how many neighbours in the files come as a block, and how
	// many blocks, in random order, are mixed with each other. Block 0 mixes all bags with all.
	Block, Window int
	Seed          uint64 // for order, flips and dropout keys
	Workers       int    // goroutines that read, decode and resize
	Prefetch      int    // batches made ahead of the consumer
	// MaxBadSamples is how many different bags with a picture that cannot be used a Loader leaves
	// out; one more ends the epoch with an error that names the first, so 0 allows none.
	MaxBadSamples int
	MaxPixels     int // pictures with more pixels are refused; 0 is picture.DefaultMaxPixels
	// Standard scales feature vectors; nil leaves them as they are.
	Standard *Standard
	// Memory is where pixels and vectors of batches lie: memory that a graphics card can read by itself, for
	// example. nil is Go's.
	Memory Memory
	// Targets, N×K of float32 in [0,1], are soft targets to train on instead of the labels, for example
	// posteriors. Unknown marks unknown labels. Nil for none.
	Targets *dense.Dense
	// Evidence, N×K of finite float32, is trained on instead of labels and targets: the log likelihood ratio
	// log p(observation | y=1) - log p(observation | y=0) of each label, 0 if nothing is known; nil for none.
	Evidence *dense.Dense
	// Augment changes pictures and labels at random in each epoch from AugmentFrom on; its zero value changes
	// nothing. If it mixes bags, batches hold the mixed labels as Targets.
	Augment     augment.Config
	AugmentFrom int
	Share       Share // the part of each epoch that this process reads; its zero value is everything
	// Mean is the colour that the network sees as 0. It fills the area outside a picture and erased
	// rectangles.
	Mean [3]uint8
}

// learned returns what batches hold in addition to the labels; nil for nothing.
func (c *Config) learned() *dense.Dense { return cmp.Or(c.Evidence, c.Targets) }

// Unknown marks an unknown target: it has no loss and teaches nothing.
const Unknown = -1

// DefaultConfig is the setting for 224-pixel pictures.
func DefaultConfig() Config {
	return Config{
		BatchSize: 32, Size: 224, Fit: picture.FitSquare, Flip: true, Shuffle: true, Seed: 1,
		Workers: 2, Prefetch: 4, MaxPixels: picture.DefaultMaxPixels,
	}
}

// validatePreprocessing refuses preprocessing that conflicts with the canvas or with augmentation.
func (c *Config) validatePreprocessing() error {
	p := c.Preprocessing
	switch {
	case p == nil:
		return nil
	case p.Crop != c.Size:
		return fmt.Errorf("a canvas of %d pixels for pictures cropped to %d", c.Size, p.Crop)
	case c.Flip || !c.Augment.IsZero():
		return errors.New("pictures for a pretrained net are neither mirrored nor augmented")
	}
	return p.Validate()
}

// maxBatchBytes bounds the pixels of one batch: a larger setting is considered a mistake.
const maxBatchBytes = 8 << 30

// decodeBytes is the memory that the decoders of all workers share. Half of it is divided among the workers,
// for pictures of usual sizes. The other half holds three pictures of 12 megapixels at once, or a single one
// of 100 megapixels.
const decodeBytes = 1 << 30

// Validate returns which field is out of range.
func (c Config) Validate() error {
	for _, field := range []struct {
		name         string
		value        int
		least, limit int
	}{
		{"BatchSize", c.BatchSize, 1, 1 << 20},
		{"Size", c.Size, 1, 1 << 14},
		{"Workers", c.Workers, 1, 1 << 10},
		{"Prefetch", c.Prefetch, 1, 1 << 10},
		{"Block", c.Block, 0, math.MaxInt32},
		{"Window", c.Window, 0, math.MaxInt32},
		{"MaxBadSamples", c.MaxBadSamples, 0, math.MaxInt32},
		{"MaxPixels", c.MaxPixels, 0, picture.PixelCeiling},
		{"AugmentFrom", c.AugmentFrom, 0, math.MaxInt32},
	} {
		if field.value < field.least || field.value > field.limit {
			return fmt.Errorf("loader: %s = %d, allowed are %d to %d", field.name, field.value, field.least, field.limit)
		}
	}
	if err := errors.Join(c.Fit.Validate(), c.Resize.Validate(), c.Orientation.Validate()); err != nil {
		return fmt.Errorf("loader: %w", err)
	}
	if err := c.validatePreprocessing(); err != nil {
		return fmt.Errorf("loader: %w", err)
	}
	if err := c.Share.validate(); err != nil {
		return err
	}
	return c.Augment.Validate("train.augment")
}

// checkSet checks that the parts of a set agree with each other and with the configuration, and
// returns the number of classes.
func checkSet(set *Set, config Config) (classes int, err error) {
	n := set.Len()
	if n == 0 {
		return 0, fmt.Errorf("loader: the set %q has no samples", set.Name)
	}
	if (set.Source == nil) == (set.Vectors == nil) || (set.Labels == nil) == (set.Rows == nil) {
		return 0, fmt.Errorf("loader: the set %q needs labels, and pictures or feature vectors, not both", set.Name)
	}
	if err := cmp.Or(config.Standard.check(set), checkAugment(set, &config), checkWeights(set)); err != nil {
		return 0, err
	}
	if set.Rows != nil {
		return checkRows(set, config)
	}
	shape := set.Labels.Shape()
	if len(shape) != 2 || shape[0] != n || shape[1] < 1 || set.Labels.Dtype() != dense.Uint8 {
		return 0, fmt.Errorf("loader: the labels of %q are %v of %v, want %d×K of uint8",
			set.Name, shape, set.Labels.Dtype(), n)
	}
	if err := checkTargets(set, &config, shape[1]); err != nil {
		return 0, err
	}
	return shape[1], checkFrames(set, config)
}

// checkWeights checks the weights of the bags, if there are any.
func checkWeights(set *Set) error {
	if set.Weights != nil && len(set.Weights) != set.Len() {
		return fmt.Errorf("loader: the set %q has %d weights for %d samples", set.Name, len(set.Weights), set.Len())
	}
	for i, w := range set.Weights {
		if !(w >= 0 && isFinite(w)) {
			return fmt.Errorf("loader: the weight of sample %d is %v, want a finite number of at least 0", i, w)
		}
	}
	return nil
}

// checkRows is checkSet for a set whose labels are not in memory. How many frames its bags have shows when
// they are read.
func checkRows(set *Set, config Config) (classes int, err error) {
	switch {
	case set.Vocabulary == nil || set.Vocabulary.Len() == 0:
		return 0, fmt.Errorf("loader: the set %q has no vocabulary", set.Name)
	case set.IDs != nil || set.Truth != nil || set.Counts != nil || set.Captions != nil:
		return 0, fmt.Errorf("loader: the set %q has rows and also identifiers, truth, counts or captions in memory",
			set.Name)
	case config.learned() != nil:
		return 0, fmt.Errorf("loader: soft targets and evidence are a matrix, and the labels of %q are not in memory",
			set.Name)
	}
	return set.Vocabulary.Len(), nil
}

// checkTargets checks shape and values of the soft targets or the evidence, if there are any.
func checkTargets(set *Set, config *Config, classes int) error {
	what, fits, allowed := "target", isTarget, fmt.Sprintf("0 to 1, or %d if it is unknown", Unknown)
	switch {
	case config.Targets != nil && config.Evidence != nil:
		return errors.New("loader: there are soft targets and evidence: leave out one")
	case config.Evidence != nil:
		what, fits, allowed = "evidence", isFinite, "finite numbers, or 0 if nothing is known"
	case config.Targets == nil:
		return nil
	}
	values := config.learned()
	shape := values.Shape()
	if len(shape) != 2 || shape[0] != set.Len() || shape[1] != classes || values.Dtype() != dense.Float32 {
		return fmt.Errorf("loader: the %s for %q is %v of %v, want %d×%d of float32", what, set.Name, shape,
			values.Dtype(), set.Len(), classes)
	}
	for i, v := range values.Float32s() {
		if !fits(v) {
			return fmt.Errorf("loader: the %s of sample %d (%s), class %d is %v, allowed are %s", what, i/classes,
				set.IDs[i/classes], i%classes, v, allowed)
		}
	}
	return nil
}

// isTarget is false for NaN.
func isTarget(v float32) bool { return v >= 0 && v <= 1 || v == Unknown }

// isFinite is false for NaN.
func isFinite(v float32) bool { return v >= -math.MaxFloat32 && v <= math.MaxFloat32 }

// checkFrames checks that every bag has frames and that a batch of the longest bags fits the memory.
func checkFrames(set *Set, config Config) error {
	longest, bytes := 0, 3*float64(config.Size)*float64(config.Size)
	if set.Vectors != nil {
		bytes = 4 * float64(set.Vectors.Width())
	}
	for i, id := range set.IDs {
		frames := set.frames(i)
		if frames < 1 && !set.ByBlocks { // with ByBlocks, reading returns why a clip has none, and skips that clip
			return fmt.Errorf("loader: sample %d (%s) of %q has %d frames", i, id, set.Name, frames)
		}
		longest = max(longest, frames)
	}
	bags := config.Share.most(min(config.BatchSize, set.Len()))
	if all := bytes * float64(longest) * float64(bags); all > maxBatchBytes {
		return fmt.Errorf("loader: a batch of %d samples of up to %d frames of %.0f bytes each takes up to %.3g bytes, "+
			"the limit is %d; lower BatchSize or Size",
			config.BatchSize, longest, bytes, all, int64(maxBatchBytes))
	} else {
		return checkMemory(config, all)
	}
}

// checkMemory compares the memory of the batches in flight, each of the given size in bytes, with the free
// memory.
func checkMemory(config Config, bytes float64) error {
	const beside = 2 // the batch being trained on, and the one being assembled
	batches := config.Prefetch + beside
	err := memory.Check(fmt.Sprintf("%d batches", batches), int64(bytes)*int64(batches))
	if err != nil {
		return fmt.Errorf("loader: %w: lower the batch size, the size of pictures or `run.prefetch`", err)
	}
	return nil
}
