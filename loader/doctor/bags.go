package doctor

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"strconv"

	"nmn/loader"
	"nmn/text"
)

// compareBags compares identifiers and captions between splits.
func (r *Report) compareBags(splits []Split) {
	seed := maphash.MakeSeed()
	for second := range splits {
		for first := range second {
			a, b, o := splits[first].Set, splits[second].Set, r.overlap(first, second)
			var same []string
			if !numbered(a) && !numbered(b) {
				same = shared(a, b, func(s *loader.Set, bag int) (string, bool) { return s.IDs[bag], true })
			}
			o.IDs = len(same)
			if o.IDs > 0 {
				r.add(Warning, "ids-across", fmt.Sprintf("%s and %s share %s", o.First, o.Second,
					text.Plural("identifiers").Count(o.IDs)), leakCure(o), some(same)...)
			}
			captions := func(s *loader.Set, bag int) (uint64, bool) { return captionKey(seed, s, bag) }
			repeated := shared(a, b, captions)
			if o.Captions = len(repeated); o.Captions > 0 {
				r.captionFinding(o, b.Len(), repeated)
			}
		}
	}
}

// chanceCaptions is the share of bags that may repeat the captions of another split by chance: annotators
// describe simple pictures alike.
const chanceCaptions = .01

func (r *Report) captionFinding(o *Overlap, bags int, repeated []string) {
	weight := Note
	if float64(o.Captions) > chanceCaptions*float64(bags) {
		weight = Warning
	}
	r.add(weight, "captions-across", fmt.Sprintf("%s has %s (%s) with exactly the captions of a %s of %s", o.Second,
		r.Samples.Count(o.Captions), percent(o.Captions, bags), r.Samples.One(), o.First), leakCure(o), some(repeated)...)
}

// leakCure returns what to do about bags that two splits share.
func leakCure(o *Overlap) string {
	return fmt.Sprintf("remove them from %s, or split again by lists of identifiers (`data.validation_ids`, "+
		"`data.test_ids`): results of %s on them only show what was memorised", o.First, o.Second)
}

// numbered reports whether bags are named only by their index, which does not identify them.
func numbered(s *loader.Set) bool {
	if s.Vectors == nil {
		return false
	}
	for i, id := range s.IDs {
		if id != strconv.Itoa(i+1) {
			return false
		}
	}
	return true
}

// fewestMentions is the least number of words in the captions of a bag that are compared: short ones are
// the same by chance.
const fewestMentions = 8

// captionKey stands for what all captions of a bag mention, in their order.
func captionKey(seed maphash.Seed, s *loader.Set, bag int) (uint64, bool) {
	if s.Captions == nil {
		return 0, false
	}
	var h maphash.Hash
	h.SetSeed(seed)
	mentions := 0
	for _, caption := range s.Captions[bag] {
		mentions += len(caption)
		_, _ = h.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(caption)))) // a hash takes everything
		_ = binary.Write(&h, binary.LittleEndian, caption)
	}
	return h.Sum64(), mentions >= fewestMentions
}

// shared are the identifiers of bags of b whose key, if they have one, is that of a bag of a.
func shared[K comparable](a, b *loader.Set, keyOf func(*loader.Set, int) (K, bool)) (ids []string) {
	known := make(map[K]bool, a.Len())
	for bag := range a.Len() {
		if key, ok := keyOf(a, bag); ok {
			known[key] = true
		}
	}
	for bag := range b.Len() {
		if key, ok := keyOf(b, bag); ok && known[key] {
			ids = append(ids, b.IDs[bag])
		}
	}
	return ids
}
