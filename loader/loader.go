package loader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"nmn/internal/fault"
	"nmn/kernels/simd"
	"nmn/loader/augment"
	"nmn/loader/picture"
)

// Loader makes batches of a Set: it reads, decodes and resizes pictures on several goroutines, a
// bounded number of batches ahead of its consumer.
//
// The batches of an epoch depend only on the Set, the Config without Workers and Prefetch, and the number of
// the epoch. So a checkpoint needs only (epoch, batch).
//
// A bag with a picture that cannot be used is left out: its batch has fewer bags, and a batch that
// has none left is passed over, without the batches after it being renumbered. A Loader is safe
// for concurrent use, and so several epochs may run at once.
type Loader struct {
	set     *Set
	config  Config
	draws   sampleDraws
	augment *augment.Draws // nil if nothing is changed
	classes int
	level   simd.Level
	room    *picture.Room // shared by all workers

	mutex sync.Mutex
	free  []*Batch // released ones
	bad   []BadSample
	seen  map[int]bool // bags in bad

	waited atomic.Int64 // nanoseconds
}

// BadSample is a bag that was left out, and why: the error names the file.
type BadSample struct {
	Bag int
	ID  string
	Err error
}

// Stats holds the counts of a Loader since it was made.
type Stats struct {
	BadSamples int           // different bags left out because a picture cannot be used
	Waited     time.Duration // for batches that were not ready when they were asked for
}

// New makes a Loader. An error names the field or the part of the set that is invalid.
func New(set *Set, config Config) (*Loader, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if set == nil {
		return nil, errors.New("loader: no set is given")
	}
	classes, err := checkSet(set, config)
	if err != nil {
		return nil, err
	}
	level, err := simd.Detect()
	if err != nil {
		return nil, fmt.Errorf("loader: %w", err)
	}
	l := &Loader{set: set, config: config, classes: classes, level: level, draws: newSampleDraws(config),
		seen: map[int]bool{}, room: picture.NewRoom(decodeBytes, config.Workers)}
	if !config.Augment.IsZero() {
		l.augment = augment.NewDraws(config.Augment, config.Seed)
	}
	return l, nil
}

// Batches is the number of batches of an epoch.
func (l *Loader) Batches() int { return (l.set.Len() + l.config.BatchSize - 1) / l.config.BatchSize }

// Classes is the number of labels of a bag.
func (l *Loader) Classes() int { return l.classes }

// Stats returns the counts up to now.
func (l *Loader) Stats() Stats {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return Stats{BadSamples: len(l.bad), Waited: time.Duration(l.waited.Load())}
}

// Bad lists the bags that were left out, in the order of their discovery, without the first known ones, which
// the caller has already.
func (l *Loader) Bad(known int) []BadSample {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Clone(l.bad[min(known, len(l.bad)):])
}

// canvasBytes returns the size of a frame's pixels, 0 if it has features.
func (l *Loader) canvasBytes() int {
	if l.set.Vectors != nil {
		return 0
	}
	return l.config.Size * l.config.Size * 3
}

// width returns the number of features of a frame, 0 if it has pixels.
func (l *Loader) width() int {
	if l.set.Vectors == nil {
		return 0
	}
	return l.set.Vectors.Width()
}

// tooLarge refuses a batch that takes more memory than a setting can intend, at the bag that exceeds the
// limit. If the numbers of frames are known ahead, New does so.
func (l *Loader) tooLarge(bag, frames int) error {
	if bytes := int64(frames) * int64(max(l.canvasBytes(), 4*l.width())); bytes > maxBatchBytes {
		return fmt.Errorf("loader: with sample %d (%s) of %q a batch has %d frames, which take %d bytes, the limit is "+
			"%d; lower BatchSize or Size",
			bag, l.id(bag), l.set.Name, frames, bytes, int64(maxBatchBytes))
	}
	return nil
}

// id is the identifier of a bag, for messages.
func (l *Loader) id(bag int) string {
	if l.set.Rows == nil {
		return l.set.IDs[bag]
	}
	var row Row
	if err := l.set.Rows.Read(context.Background(), bag, &row); err != nil {
		return "sample " + strconv.Itoa(bag)
	}
	return row.ID
}

// named adds to an error which frame it is about.
func (l *Loader) named(bag, frame int, err error) error {
	return fmt.Errorf("sample %d (%s), frame %d: %w", bag, l.id(bag), frame, err)
}

// batch returns a batch to fill, a released one if there is one.
func (l *Loader) batch() *Batch {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if last := len(l.free) - 1; last >= 0 {
		b := l.free[last]
		l.free = l.free[:last]
		b.held = true
		return b
	}
	return newBatch(l)
}

func (l *Loader) recycle(b *Batch) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if b.held {
		b.held = false
		l.free = append(l.free, b)
	}
}

// leaveOut counts a bag that is left out. A bag that recurs in a later epoch counts once. The error reports
// that there are too many, and names the first.
func (l *Loader) leaveOut(bag int, err error) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if !l.seen[bag] {
		l.seen[bag] = true
		l.bad = append(l.bad, BadSample{bag, l.id(bag), err})
	}
	if len(l.bad) <= l.config.MaxBadSamples {
		return nil
	}
	return TooManyBad(l.set, l.bad, l.config.MaxBadSamples)
}

// TooManyBad is the error of an epoch that has left out more bags of a set than Config.MaxBadSamples allows. It names
// the first, and wraps ErrCorrupt.
func TooManyBad(set *Set, bad []BadSample, allowed int) error {
	const named = 3
	var first []string
	for _, b := range bad[:min(named, len(bad))] {
		first = append(first, fmt.Sprintf("%s %d (%s): %v", set.Noun().One(), b.Bag, b.ID, b.Err))
	}
	return fault.Newf(ErrCorrupt, "loader: %d %s of %q that cannot be used, more than the %d that `data.max_bad_samples` "+
		"(MaxBadSamples) allows; repair or remove them, or allow more: %s",
		len(bad), set.Noun(), set.Name, allowed, strings.Join(first, "; "))
}

// NoneUsable returns the error about a set without a usable bag. first is the error of the first bag.
func NoneUsable(set *Set, first error) error {
	if set.Len() == 1 {
		return fmt.Errorf("there is nothing to read: %w", first)
	}
	return fmt.Errorf("none of the %d %s of %q can be used, the first because of: %w", set.Len(), set.Noun(),
		set.Name, first)
}
