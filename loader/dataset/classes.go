package dataset

import (
	"bytes"
	"fmt"
	"slices"

	"nmn/loader"
)

// Classes says whether the classes of the data exclude each other.
type Classes string

// The choices of classes.
const (
	AutoClasses Classes = "auto"      // Exclusive if each row has exactly one label
	Exclusive   Classes = "exclusive" // each row has exactly one label
	Multi       Classes = "multi"     // each label holds or not, whatever the others are
)

// forgetOtherClasses makes the labels of held-out rows without a label unknown if each training row has exactly one.
// The class of such a row is one that no training row has, so no answer could be right. The row counts in no measure.
func (d *Splits) forgetOtherClasses() {
	if notExclusive(d.Train) != "" {
		return
	}
	for _, set := range []*loader.Set{d.Validation, d.Test} {
		if set == nil || set.Rows != nil || set.Labels == nil {
			continue
		}
		for row := range slices.Chunk(set.Labels.Uint8s(), set.Vocabulary.Len()) {
			if !slices.ContainsFunc(row, func(label uint8) bool { return label != 0 }) {
				for k := range row {
					row[k] = loader.UnknownLabel
				}
			}
		}
	}
}

// NotExclusive returns why classes do not exclude each other: the first row without exactly one label. It is
// empty if they do. Rows whose labels are all unknown do not count.
func (d *Splits) NotExclusive() string {
	for _, set := range d.Distinct() {
		if why := notExclusive(set); why != "" {
			return why
		}
	}
	return ""
}

func notExclusive(set *loader.Set) string {
	k := set.Vocabulary.Len()
	switch {
	case k < 2:
		return fmt.Sprintf("%s has one class", set.Name)
	case set.Rows != nil || set.Labels == nil:
		return fmt.Sprintf("labels of %s are not held in memory", set.Name)
	}
	for bag, z := 0, set.Labels.Uint8s(); bag < set.Len(); bag++ {
		row := z[bag*k : (bag+1)*k]
		ones, unknown := bytes.Count(row, []byte{1}), bytes.Count(row, []byte{loader.UnknownLabel})
		if unknown == k || ones == 1 && unknown == 0 {
			continue
		}
		if unknown > 0 {
			return fmt.Sprintf("row %d of %s (%s) has %d unknown labels of %d", bag+1, set.Name, set.IDs[bag], unknown, k)
		}
		return fmt.Sprintf("row %d of %s (%s) has %d labels", bag+1, set.Name, set.IDs[bag], ones)
	}
	return ""
}
