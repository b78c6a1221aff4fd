package run

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/picture"
	"nmn/text"
)

// Reading says how a model reads pictures, or rows of features.
type Reading struct {
	Batch         int         // bags that are computed at once; results do not depend on it
	MaxBadSamples int         // that cannot be read and are left out before it is an error
	Fit           picture.Fit // how pictures get onto the canvas; empty for as in training
	MaxPixels     int         // pictures of more are not decoded; 0 for no limit but picture.PixelCeiling
	Shard         Shard       // part of the bags
	Images        string      // folder in which relative paths of a list begin; empty for the folder of the list
	// LeftOut is called with the bags of a set that could not be read, before the others are used; may be nil.
	LeftOut func(bad []loader.BadSample, set *loader.Set)
	// Skipped is called with the files in folders that were not read, because their names do not end as
	// names of pictures do; may be nil.
	Skipped func(files []string)
}

// DefaultReading leaves out whatever cannot be read.
func DefaultReading() Reading {
	return Reading{Batch: 16, MaxBadSamples: math.MaxInt32, MaxPixels: picture.DefaultMaxPixels}
}

func (r *Reading) validate() error {
	if r.Batch < 1 || r.MaxBadSamples < 0 || r.MaxPixels < 0 {
		return setting.Errorf("", "%d samples at once, %d that cannot be read and %d pixels: want at least 1, 0 and 0",
			r.Batch, r.MaxBadSamples, r.MaxPixels)
	}
	return nil
}

func (r *Reading) leftOut(bad []loader.BadSample, set *loader.Set) {
	if r.LeftOut != nil {
		r.LeftOut(bad, set)
	}
}

func (r *Reading) skipped(files []string) {
	if r.Skipped != nil && len(files) > 0 {
		r.Skipped(files)
	}
}

// refuseImages refuses a folder of pictures for what is no list of pictures.
func (r *Reading) refuseImages() error {
	if r.Images == "" {
		return nil
	}
	return setting.Errorf("data.images", "`data.images` is for a list of pictures: leave it out")
}

// pictureNames are the names of pictures in tables, as UTF-8.
func (r *Reading) pictureNames(paths, files []string) []string {
	names := slices.Clone(dataset.PictureIDs(paths, r.Images, files))
	for i, name := range names {
		names[i] = visible.Name(name)
	}
	return names
}

// Shard is one of several parts of a list; each process works on one. Its elements follow one another, so the outputs
// of all shards, joined in the order of their numbers, equal the output of one process. The zero value is the whole
// list.
type Shard struct {
	Number, Of int // Number counts from 1
}

// ParseShard reads a shard such as 2/4.
func ParseShard(text string) (s Shard, err error) {
	number, of, found := strings.Cut(text, "/")
	if found {
		s.Number, err = strconv.Atoi(number)
	}
	if found && err == nil {
		s.Of, err = strconv.Atoi(of)
	}
	if !found || err != nil || s.Number < 1 || s.Of < s.Number {
		return Shard{}, fmt.Errorf("want i/n with i from 1 to n, as 2/4")
	}
	return s, nil
}

// String is what ParseShard reads; empty for the whole list.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Of)
}

// Range is the part of a list of n elements, from one up to another. A shard without any is an error.
func (s Shard) Range(n int, noun text.Plural) (from, to int, err error) {
	if s.Of == 0 {
		return 0, n, nil
	}
	from, to = (s.Number-1)*n/s.Of, s.Number*n/s.Of
	if from == to {
		return 0, 0, setting.Errorf("", "shard %v has none of %d %s: make at most %d shards", s, n, noun, n)
	}
	return from, to, nil
}

func (s Shard) files(all []string, noun text.Plural) ([]string, error) {
	from, to, err := s.Range(len(all), noun)
	return all[from:to], err
}

func (s Shard) set(all *loader.Set) (*loader.Set, error) {
	if s.Of == 0 {
		return all, nil
	}
	from, to, err := s.Range(all.Len(), all.Noun())
	if err != nil {
		return nil, err
	}
	bags := make([]int, to-from)
	for i := range bags {
		bags[i] = from + i
	}
	return loader.Subset(all, all.Name, bags)
}
