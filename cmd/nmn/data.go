package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nmn/internal/rng"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/loader/noise"
	"nmn/loader/scenes"
	"nmn/report"
	"nmn/text"
)

// dataSets are the splits of the data of a configuration. Validation and test are nil where there
// are none.
type dataSets struct {
	train      *loader.Set // labels may be noisy
	clean      *loader.Set // the same pictures before noise was injected; train itself without noise
	validation *loader.Set
	test       *loader.Set
	noise      float64 // share of replaced captions, for tables
	flips      report.Flips
	drawn      struct{ train, validation *noise.Injection } // flips, nil for none
	columns    string                                       // of features or a manifest, for people
	close      func() error

	cleanValidation *loader.Set // validation before labels were flipped

	census *loader.Census    // of the training labels, noisy
	noisy  *noise.Statistics // of these against the clean ones or the truth; nil where neither tells more
}

// judged is the split that figures are measured on, and its name.
func (d *dataSets) judged() (*loader.Set, string) {
	switch {
	case d.test != nil:
		return d.test, "test"
	case d.validation != nil:
		return d.validation, "validation"
	}
	return d.train, "train"
}

// split returns a split by name.
func (d *dataSets) split(name string) (*loader.Set, error) {
	set := map[string]*loader.Set{"train": d.train, "validation": d.validation, "test": d.test}[name]
	if set == nil {
		return nil, usagef("the data has no %s split", name)
	}
	return set, nil
}

// openData reads or makes the data of a configuration. The caller must close it.
func openData(ctx context.Context, p *program, c *config) (*dataSets, error) {
	d := &dataSets{close: func() error { return nil }}
	var err error
	switch c.Data.Set {
	case dataScenes, dataMoving:
		err = d.openScenes(&c.Data)
	case dataMSRVTT:
		err = d.openMSRVTT(ctx, p, &c.Data)
	case dataClips:
		err = d.openClips(ctx, p, c)
	case dataFeatures:
		err = d.openFeatures(ctx, p, &c.Data)
	case dataManifest:
		err = d.openManifest(ctx, p, c)
	default:
		err = d.openCaptions(ctx, p, &c.Data)
	}
	if err == nil {
		d.clean, d.cleanValidation = d.train, d.validation
		err = d.injectNoise(ctx, &c.Data)
	}
	if err == nil {
		err = d.survey(ctx, p, &c.Data)
	}
	if err != nil {
		_ = d.close() // the first error tells more
		return nil, err
	}
	return d, nil
}

func (d *dataSets) openScenes(c *dataConfig) error {
	for _, split := range []struct {
		name string
		n    int
		to   **loader.Set
	}{{"train", c.TrainSize, &d.train}, {"val", c.ValidationSize, &d.validation}, {"test", c.TestSize, &d.test}} {
		if split.n == 0 {
			continue
		}
		var err error
		if c.Set == dataMoving {
			*split.to, err = scenes.MakeMoving(scenes.MovingConfig{Seed: c.Seed, Split: split.name, N: split.n, Frames: c.Frames, Cache: true})
		} else {
			*split.to, err = scenes.Make(scenes.Config{Seed: c.Seed, Split: split.name, N: split.n, Cache: true})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openCaptions reads COCO files. Words that are not in the vocabulary of the training captions are
// no labels anywhere.
func (d *dataSets) openCaptions(ctx context.Context, p *program, c *dataConfig) error {
	captions, err := readCaptions(p, c.Captions)
	if err != nil {
		return whereItStarted(err, c.Captions)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	vocabulary, err := openVocabulary(c, captions.Texts(c.CaptionsPerBag))
	if err != nil {
		return err
	}
	whole, err := d.captionSet(p, c, captions, c.Images, vocabulary)
	if err != nil {
		return err
	}
	if err := labelled(whole, c); err != nil {
		return err
	}
	if c.ValCaptions == "" {
		return d.holdOut(c, whole)
	}
	d.train = whole
	return d.openValidation(p, c, vocabulary)
}

// maxClasses bounds the memory of labels and of the last layer: a vocabulary beyond it is a mistake.
const maxClasses = 100_000

func openVocabulary(c *dataConfig, captions iter.Seq[string]) (*text.Vocabulary, error) {
	v, err := readOrBuildVocabulary(c, captions)
	if err == nil && v.Len() > maxClasses {
		return nil, tooManyClasses(c, v)
	}
	return v, err
}

func tooManyClasses(c *dataConfig, v *text.Vocabulary) error {
	return fmt.Errorf("vocabulary %s: %d words, at most %d can be classes: keep the most frequent", c.Vocabulary, v.Len(), maxClasses)
}

func readOrBuildVocabulary(c *dataConfig, captions iter.Seq[string]) (*text.Vocabulary, error) {
	if c.Vocabulary != "" {
		return text.ReadVocabulary(c.Vocabulary)
	}
	return tagged(text.VocabularyOptions{Size: c.VocabularySize, MinCount: c.MinCount}, captions)
}

// labelled refuses training captions that have no label at all.
func labelled(train *loader.Set, c *dataConfig) error {
	if slices.Contains(train.Labels.Uint8s(), 1) {
		return nil
	}
	return unlabelled(train, c)
}

func unlabelled(train *loader.Set, c *dataConfig) error {
	return fmt.Errorf("%s: no caption has any of the %d words of the vocabulary: is %s that of other captions?",
		train.Name, train.Vocabulary.Len(), c.Vocabulary)
}

// captionSet joins captions with the pictures of a folder. Pictures whose file is missing are left
// out up to the limit on bad samples.
func (d *dataSets) captionSet(p *program, c *dataConfig, captions *annotation.COCO, folder string, v *text.Vocabulary) (*loader.Set, error) {
	missing := 0
	o := annotation.COCOOptions{CaptionsPerImage: c.CaptionsPerBag, Images: folder, SkipUncaptioned: true}
	if c.MaxBadSamples > 0 {
		o.Missing = func(file string) {
			missing++
			p.log.Warn("picture is missing", "file", file)
		}
	}
	set, files, err := annotation.COCOSet(captions, v, o)
	if err != nil {
		return nil, err
	}
	if missing > c.MaxBadSamples {
		return nil, fmt.Errorf("%s: %d pictures have no file in %s; --max-bad-samples allows %d", captions.Name, missing, folder, c.MaxBadSamples)
	}
	source, err := loader.NewFileSource(folder, files)
	if err != nil {
		return nil, err
	}
	set.Source = source
	d.alsoClose(source)
	return set, nil
}

// alsoClose closes something with the data.
func (d *dataSets) alsoClose(c io.Closer) {
	before := d.close
	d.close = func() error { return firstError(c.Close(), before()) }
}

// whereItStarted adds to an error about a missing file from where its path is taken: the folder of a
// run keeps the paths as they were given.
func whereItStarted(err error, path string) error {
	if here, wd := os.Getwd(); wd == nil && errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(path) {
		return fmt.Errorf("%w (a path in %s; a run goes on and is evaluated from the folder where it was started)", err, here)
	}
	return err
}

// openValidation splits the validation captions: by lists of identifiers, else in two halves.
func (d *dataSets) openValidation(p *program, c *dataConfig, v *text.Vocabulary) error {
	captions, err := readCaptions(p, c.ValCaptions)
	if err != nil {
		return err
	}
	folder := c.ValImages
	if folder == "" {
		folder = c.Images
	}
	whole, err := d.captionSet(p, c, captions, folder, v)
	if err != nil {
		return err
	}
	if c.ValidationIDs == "" && c.TestIDs == "" {
		d.validation, d.test, err = loader.SplitHalves(whole, c.Seed)
		return err
	}
	_, err = d.listed(c, whole)
	return err
}

// listed takes validation and test out of a set by lists of identifiers, and tells which bags they
// took.
func (d *dataSets) listed(c *dataConfig, whole *loader.Set) (taken map[string]bool, err error) {
	var lists [][]string
	var to []**loader.Set
	for _, list := range []struct {
		file string
		to   **loader.Set
	}{{c.ValidationIDs, &d.validation}, {c.TestIDs, &d.test}} {
		if list.file == "" {
			continue
		}
		ids, err := loader.ReadIDs(list.file)
		if err != nil {
			return nil, err
		}
		if c.Set == dataCaptions {
			ids = annotation.COCOIDs(ids)
		}
		lists, to = append(lists, ids), append(to, list.to)
	}
	sets, err := loader.SplitByIDs(whole, lists...)
	if err != nil {
		return nil, err
	}
	taken = map[string]bool{}
	for i, set := range sets {
		*to[i] = set
		for _, id := range set.IDs {
			taken[id] = true
		}
	}
	return taken, nil
}

// shuffledByID is a seeded order of identifiers, as indices, that does not depend on the order they come in.
func shuffledByID(ids []string, seed uint64) []int {
	order := make([]int, len(ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(ids[a], ids[b]) })
	stream := rng.New(seed)
	stream.Shuffle(order)
	return order
}

// holdOut takes validation and test bags out of the training set: those of the lists, else
// shares of a seeded order that depends on the identifiers alone.
func (d *dataSets) holdOut(c *dataConfig, whole *loader.Set) error {
	if c.ValidationIDs != "" || c.TestIDs != "" {
		taken, err := d.listed(c, whole)
		if err != nil {
			return err
		}
		var rest []int
		for i, id := range whole.IDs {
			if !taken[id] {
				rest = append(rest, i)
			}
		}
		d.train, err = loader.Subset(whole, whole.Name+"-train", rest)
		return err
	}
	order := shuffledByID(whole.IDs, rng.Derive(c.Seed, "held-out pictures"))
	n := func(share float64) int { return int(math.Round(share * float64(len(order)))) }
	validation, test := n(c.ValidationShare), n(c.TestShare)
	for _, part := range []struct {
		name string
		of   []int
		to   **loader.Set
	}{
		{"validation", order[:validation], &d.validation}, {"test", order[validation : validation+test], &d.test},
		{"train", order[validation+test:], &d.train},
	} {
		if len(part.of) == 0 {
			continue
		}
		slices.Sort(part.of)
		set, err := loader.Subset(whole, whole.Name+"-"+part.name, part.of)
		if err != nil {
			return err
		}
		*part.to = set
	}
	if d.train == nil {
		return fmt.Errorf("%s: %d bags leave none to train on: lower --validation-share and --test-share", whole.Name, whole.Len())
	}
	return nil
}
