package dataset

import "nmn/loader"

// Distinct are the splits that there are, each set of pictures once.
func (d *Splits) Distinct() (sets []*loader.Set) {
	for _, set := range []*loader.Set{d.Train, d.Validation, d.Test} {
		if set != nil {
			sets = append(sets, set)
		}
	}
	return sets
}

// Replace puts features in place of the pictures of all splits; the pictures stay for display. vectors is
// called once for each of Distinct, and returns a vector for each frame of a bag.
func (d *Splits) Replace(vectors func(*loader.Set) (loader.Vectors, error)) error {
	for _, split := range []struct{ set, clean *loader.Set }{{d.Train, d.clean}, {d.Validation, d.cleanValidation},
		{d.Test, nil}} {
		if split.set == nil {
			continue
		}
		v, err := vectors(split.set)
		if err != nil {
			return err
		}
		for _, set := range []*loader.Set{split.set, split.clean} {
			if set != nil && set.Vectors == nil { // the same bags, with other labels
				set.Pictures, set.Source, set.Vectors = set.Source, nil, v
			}
		}
	}
	return nil
}
