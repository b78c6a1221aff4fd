package loader

import (
	"fmt"
	"slices"
	"strings"

	dense "gorgonia.org/tensor"

	"nmn/internal/rng"
)

// Subset returns a new Set of the given bags in the given order, with their labels, truth, counts,
// captions and pictures or features. Its matrices are copies; the rest is shared. Indices out of
// range or given twice are errors, as is a Set of no bags.
func Subset(s *Set, name string, indices []int) (*Set, error) {
	if len(indices) == 0 {
		return nil, fmt.Errorf("%s: a subset of %s without samples", name, s.Name)
	}
	used := make([]bool, s.Len())
	for at, i := range indices {
		if i < 0 || i >= s.Len() {
			return nil, fmt.Errorf("%s: index %d (number %d) is outside the %d samples of %s", name, i, at, s.Len(), s.Name)
		}
		if used[i] {
			return nil, fmt.Errorf("%s: sample %d%s of %s is chosen twice", name, i, s.called(i), s.Name)
		}
		used[i] = true
	}
	part := &Set{
		Name:              name,
		Vocabulary:        s.Vocabulary,
		CaptionsPerSample: s.CaptionsPerSample,
		ByFrame:           s.ByFrame,
		ByBlocks:          s.ByBlocks,
	}
	bags := chosenBags(slices.Clone(indices))
	if s.Rows != nil {
		part.Rows, part.survey = chosenRows{s.Rows, bags}, &survey{}
	} else {
		part.IDs = pick(s.IDs, indices)
	}
	var err error
	for _, m := range []struct {
		from *dense.Dense
		to   **dense.Dense
	}{{s.Labels, &part.Labels}, {s.Truth, &part.Truth}, {s.Counts, &part.Counts}} {
		if *m.to, err = rows(m.from, s.Len(), indices); err != nil {
			return nil, fmt.Errorf("%s: subset of %s: %w", name, s.Name, err)
		}
	}
	if s.Weights != nil {
		part.Weights = pick(s.Weights, indices)
	}
	if s.Captions != nil {
		part.Captions = pick(s.Captions, indices)
	}
	if s.CaptionsInUse != nil {
		part.CaptionsInUse = pick(s.CaptionsInUse, indices)
	}
	if s.Source != nil {
		part.Source = placedSource{s.Source, bags}
	}
	if s.Pictures != nil {
		part.Pictures = placedSource{s.Pictures, bags}
	}
	if s.Vectors != nil {
		part.Vectors = placedVectors{s.Vectors, bags}
		part.Standard, part.Columns = s.Standard, s.Columns
	}
	return part, nil
}

// called returns the identifier of a bag in brackets, for a message; nothing if it is not in memory.
func (s *Set) called(bag int) string {
	if s.Rows != nil {
		return ""
	}
	return " (" + s.IDs[bag] + ")"
}

// pick returns the elements at the indices.
func pick[E any](from []E, indices []int) []E {
	to := make([]E, len(indices))
	for at, i := range indices {
		to[at] = from[i]
	}
	return to
}

// rows copies rows of a matrix of n rows; nil stays nil.
func rows(m *dense.Dense, n int, indices []int) (*dense.Dense, error) {
	if m == nil {
		return nil, nil
	}
	if m.Dtype() != dense.Uint8 || m.Dims() != 2 || m.Shape()[0] != n {
		return nil, fmt.Errorf("a matrix is %v %v, want uint8 with %d rows", m.Dtype(), m.Shape(), n)
	}
	k := m.Shape()[1]
	from, to := m.Uint8s(), make([]uint8, len(indices)*k)
	for at, i := range indices {
		copy(to[at*k:(at+1)*k], from[i*k:(i+1)*k])
	}
	return Matrix(to, k), nil
}

// SplitHalves splits a set in two, as the paper splits val2014 into validation and test. The rule:
// order the ids as byte strings, shuffle them (Fisher and Yates) with the stream of
// rng.Derive(seed, "loader/halves"), and give the first half, rounded up, to the first set. It
// depends on the ids and the seed alone; both sets keep the order of the whole.
func SplitHalves(s *Set, seed uint64) (first, second *Set, err error) {
	if s.Len() < 2 {
		return nil, nil, fmt.Errorf("%s: %d samples cannot be split in two", s.Name, s.Len())
	}
	if s.Rows != nil {
		return nil, nil, fmt.Errorf(
			"%s: to split a set in halves its identifiers are needed, and they are not in memory", s.Name)
	}
	order := ShuffledByID(s.IDs, rng.Derive(seed, "loader/halves"))
	middle := (len(order) + 1) / 2
	slices.Sort(order[:middle])
	slices.Sort(order[middle:])
	if first, err = Subset(s, s.Name+"-half1", order[:middle]); err != nil {
		return nil, nil, err
	}
	second, err = Subset(s, s.Name+"-half2", order[middle:])
	return first, second, err
}

// ShuffledByID is a seeded order of identifiers, as indices, that does not depend on the order they come in.
func ShuffledByID(ids []string, seed uint64) []int {
	order := make([]int, len(ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(ids[a], ids[b]) })
	stream := rng.New(seed)
	stream.Shuffle(order)
	return order
}

// The splits of a data set, named as in MSR-VTT's annotations; sets use these names too.
const (
	TrainSplit      = "train"
	ValidationSplit = "validate"
	TestSplit       = "test"
)

// SplitNamed finds the split that a list means by a name: train or training, validation, validate, valid,
// val or dev, and test, in either case.
func SplitNamed(name string) (split string, ok bool) {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "train", "training":
		return TrainSplit, true
	case "validation", "validate", "valid", "val", "dev":
		return ValidationSplit, true
	case "test":
		return TestSplit, true
	}
	return "", false
}
