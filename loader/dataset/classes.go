package dataset

import (
	"fmt"

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
		ones, unknown := 0, 0
		for _, label := range z[bag*k : (bag+1)*k] {
			switch label {
			case 1:
				ones++
			case loader.UnknownLabel:
				unknown++
			}
		}
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
