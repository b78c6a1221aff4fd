package inject

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"nmn/loader"
)

// check returns why the noise cannot be applied to a set.
func (noise *Injection) check(s *loader.Set) error {
	if err := noise.checkSet(s); err != nil {
		return err
	}
	for at, change := range noise.Changes {
		if err := noise.checkChange(s, at, change); err != nil {
			return loader.Unusable(fmt.Errorf("noise for %q, change %d: %w", noise.SetName, at, err))
		}
	}
	return nil
}

// checkSet returns why the noise belongs to another set.
func (noise *Injection) checkSet(s *loader.Set) error {
	if err := loader.CheckLabels(s, "labels", s.Labels); err != nil {
		return err
	}
	wrong := func(format string, args ...any) error {
		return loader.Unusable(fmt.Errorf("noise made for %q, applied to %q: %s: %w",
			noise.SetName, s.Name, fmt.Sprintf(format, args...), ErrOtherSet))
	}
	if !noise.Kind.replaces() && noise.Kind != Flips {
		return loader.Unusable(fmt.Errorf("noise of the unknown kind %q", noise.Kind))
	}
	if noise.Bags != s.Len() {
		return wrong("%d samples, want %d", s.Len(), noise.Bags)
	}
	if noise.Kind == Flips && noise.Classes != s.Vocabulary.Len() {
		return wrong("%d classes, want %d", s.Vocabulary.Len(), noise.Classes)
	}
	if noise.Kind.replaces() {
		if s.Captions == nil {
			return wrong("its labels do not come from captions")
		}
		if err := checkCaptions(s); err != nil {
			return err
		}
	}
	if got := fingerprint(s, noise.Kind); got != noise.Fingerprint {
		return wrong("its fingerprint is %.16s, want %.16s: other samples, another order, other captions or labels",
			got, noise.Fingerprint)
	}
	return nil
}

func (noise *Injection) checkChange(s *loader.Set, at int, change BagChanges) error {
	if change.Bag < 0 || change.Bag >= noise.Bags {
		return fmt.Errorf("sample %d is outside 0 to %d", change.Bag, noise.Bags-1)
	}
	if at > 0 && change.Bag <= noise.Changes[at-1].Bag {
		return fmt.Errorf("sample %d follows sample %d; samples must ascend", change.Bag, noise.Changes[at-1].Bag)
	}
	if noise.Kind == Flips {
		return checkAscending("flipped class", change.Flips, noise.Classes)
	}
	slots := make([]int, len(change.Captions))
	for i, r := range change.Captions {
		slots[i] = r.Slot
		if r.Donor < 0 || r.Donor >= noise.Bags || r.Donor == change.Bag {
			return fmt.Errorf("sample %d: donor %d is not another sample of 0 to %d", change.Bag, r.Donor, noise.Bags-1)
		}
		if n := len(s.Captions[r.Donor]); r.DonorSlot < 0 || r.DonorSlot >= n {
			return fmt.Errorf("sample %d: caption %d of donor %d, which has %d", change.Bag, r.DonorSlot, r.Donor, n)
		}
	}
	return checkAscending("replaced caption", slots, len(s.Captions[change.Bag]))
}

func checkAscending(what string, indices []int, n int) error {
	last := -1
	for _, i := range indices {
		if i <= last || i >= n {
			return fmt.Errorf("%s %d follows %d; they must ascend and stay below %d", what, i, last, n)
		}
		last = i
	}
	return nil
}

// fingerprint identifies a set as far as a kind of noise depends on it. Replaced captions depend on
// the ids and the number of captions of each bag, and so may be shared between vocabularies; flips
// depend on the ids, the words and the labels.
func fingerprint(s *loader.Set, kind Kind) string {
	h := sha256.New()
	put := func(b []byte) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:]) // lengths keep "ab","c" apart from "a","bc"
		h.Write(b)
	}
	put([]byte(kind.inFile()))
	for i, id := range s.IDs {
		put([]byte(id))
		if kind.replaces() {
			put(binary.LittleEndian.AppendUint32(nil, uint32(len(s.Captions[i]))))
		}
	}
	if kind == Flips {
		for k := range s.Vocabulary.Len() {
			put([]byte(s.Vocabulary.Word(k).Text))
		}
		put(s.Labels.Uint8s())
	}
	return hex.EncodeToString(h.Sum(nil))
}

func checkCaptions(s *loader.Set) error {
	if s.Captions == nil || len(s.Captions) != s.Len() {
		return fmt.Errorf("%s: the set has the captions of %d of %d samples", s.Name, len(s.Captions), s.Len())
	}
	for i, captions := range s.Captions {
		if len(captions) > loader.MaxCaptions {
			return fmt.Errorf("%s: sample %d has %d captions, allowed are %d", s.Name, i, len(captions),
				loader.MaxCaptions)
		}
		for c, words := range captions {
			for _, k := range words {
				if k < 0 || int(k) >= s.Vocabulary.Len() {
					return fmt.Errorf("%s: caption %d of sample %d mentions class %d of %d",
						s.Name, c, i, k, s.Vocabulary.Len())
				}
			}
		}
	}
	return nil
}
