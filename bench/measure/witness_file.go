package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"nmn/labels/inject"
	"nmn/labels/misplaced"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/text"
)

// CaptionFile chooses captions of a file.
type CaptionFile struct {
	File     string  // COCO's form or MSR-VTT's
	Bags     int     // the first bags; 0 for all
	PerBag   int     // the first captions by their ids; 0 for 5, and for 20 in MSR-VTT
	Words    int     // of the vocabulary: the most frequent ones of these captions
	Replaced float64 // share of each bag's captions, a whole number of captions
	Seed     uint64  // that draws them
}

// Validate reports what no file can be read with.
func (c *CaptionFile) Validate() error {
	switch {
	case c.File == "":
		return errors.New("bench: the file of captions has no name")
	case c.Bags < 0 || c.PerBag < 0 || c.PerBag > loader.MaxCaptions:
		return fmt.Errorf("bench: %d pictures and %d captions of each, want 0 or more, and at most %d of each",
			c.Bags, c.PerBag, loader.MaxCaptions)
	case c.Words < 1 || c.Words > mostWords:
		return fmt.Errorf("bench: %d words, want 1 to %d", c.Words, mostWords)
	case !(c.Replaced >= 0 && c.Replaced <= 1):
		return fmt.Errorf("bench: a share of %g cannot be replaced, want 0 to 1", c.Replaced)
	}
	return nil
}

// Read reads captions, and replaces some.
func (c *CaptionFile) Read(ctx context.Context) (*Captions, error) {
	bags, err := annotation.ReadBags(ctx, c.File)
	if err != nil {
		return nil, err
	}
	ids, texts := c.bags(bags)
	set, err := c.set(ids, texts)
	if err != nil {
		return nil, err
	}
	captions, foreign, err := replacedCaptions(set, c.Replaced, c.Seed)
	if err != nil {
		return nil, err
	}
	input := misplaced.Input{Classes: set.Vocabulary.Len(), Captions: captions}
	return &Captions{Source: c.File, Foreign: foreign, Input: input}, nil
}

// bags are the ids and captions of the bags that count.
func (c *CaptionFile) bags(bags *annotation.Bags) (ids []string, texts [][]string) {
	perBag := cmp.Or(c.PerBag, 5)
	if bags.Form == annotation.FormMSRVTT {
		perBag = cmp.Or(c.PerBag, annotation.MSRVTTCaptions)
	}
	for i, captions := range bags.Captions[:min(len(bags.Captions), cmp.Or(c.Bags, math.MaxInt))] {
		var all []string
		for _, caption := range captions[:min(perBag, len(captions))] {
			all = append(all, caption.Text)
		}
		ids, texts = append(ids, bags.IDs[i]), append(texts, all)
	}
	return ids, texts
}

// set is a set of the bags, with a vocabulary of their words.
func (c *CaptionFile) set(ids []string, texts [][]string) (*loader.Set, error) {
	most := 1
	for _, captions := range texts {
		most = max(most, len(captions))
	}
	vocabulary, err := text.BuildVocabulary(func(yield func(string) bool) {
		for _, captions := range texts {
			for _, caption := range captions {
				if !yield(caption) {
					return
				}
			}
		}
	}, text.VocabularyOptions{Size: c.Words})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.File, err)
	}
	return loader.NewCaptionSet(c.File, ids, texts, most, vocabulary)
}

// replacedCaptions returns the captions of a set after a share of each bag's captions was replaced, as in the
// experiments of the paper, and which captions are foreign.
func replacedCaptions(set *loader.Set, share float64, seed uint64) (captions [][][]int32, foreign [][]bool, err error) {
	captions, foreign = make([][][]int32, set.Len()), make([][]bool, set.Len())
	for n, own := range set.Captions {
		captions[n], foreign[n] = append([][]int32(nil), own...), make([]bool, len(own))
	}
	if share == 0 {
		return captions, foreign, nil
	}
	injected, err := inject.ReplaceCaptions(set, inject.Uniform, share, seed)
	if err != nil {
		return nil, nil, err
	}
	for _, change := range injected.Changes {
		for _, r := range change.Captions {
			captions[change.Bag][r.Slot] = set.Captions[r.Donor][r.DonorSlot]
			foreign[change.Bag][r.Slot] = true
		}
	}
	return captions, foreign, nil
}
