package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nmn/loader"
	"nmn/text"
)

// Labels are the labels of a split, as they would be learned.
type Labels struct {
	Classes    int         `json:"classes"`
	PerBag     float64     `json:"labels_per_sample"`
	Unlabelled int         `json:"samples_without_label"`
	Unknown    int         `json:"unknown_labels,omitempty"` // labels that are unknown
	Most       []ClassSize `json:"most_frequent"`
	Least      []ClassSize `json:"least_frequent"` // classes with at least one label, the rarest first
	Never      []string    `json:"never"`          // classes on no bag
	Always     []string    `json:"always"`         // classes on every bag
	Rare       int         `json:"rare_classes"`   // classes on 1 to 9 bags
}

// ClassSize is a class and the number of bags that have it.
type ClassSize struct {
	Word string `json:"class"`
	Bags int    `json:"samples"`
}

const (
	listedClasses = 5
	rareBelow     = 10
)

func measureLabels(s *loader.Set) Labels {
	z, k := s.Labels.Uint8s(), s.Vocabulary.Len()
	sizes, unknown := make([]ClassSize, k), make([]int, k)
	for c, w := range s.Vocabulary.Words() {
		sizes[c].Word = w.Text
	}
	l := Labels{Classes: k, Never: []string{}, Always: []string{}}
	positives := 0
	for bag := range s.Len() {
		before := positives
		for c, v := range z[bag*k : (bag+1)*k] {
			if v == loader.UnknownLabel {
				l.Unknown++
				unknown[c]++
				continue
			}
			sizes[c].Bags += int(v)
			positives += int(v)
		}
		if positives == before {
			l.Unlabelled++
		}
	}
	l.PerBag = float64(positives) / float64(s.Len())
	there := make([]ClassSize, 0, k)
	for at, c := range sizes {
		switch c.Bags {
		case 0:
			l.Never = append(l.Never, c.Word)
			continue
		case s.Len() - unknown[at]:
			l.Always = append(l.Always, c.Word)
		}
		if c.Bags < rareBelow {
			l.Rare++
		}
		there = append(there, c)
	}
	slices.SortStableFunc(there, func(a, b ClassSize) int { return cmp.Compare(b.Bags, a.Bags) })
	l.Most = slices.Clone(there[:min(len(there), listedClasses)])
	l.Least = slices.Clone(there[max(0, len(there)-listedClasses):])
	slices.Reverse(l.Least)
	return l
}

// labelFindings judges the labels: training labels, which are learned, and labels of other splits, on which
// metrics are computed.
func (r *Report) labelFindings() {
	for at := range r.Splits {
		s := &r.Splits[at]
		if at == 0 {
			r.trainingLabels(s)
		} else if n := len(s.Labels.Never); n > 0 {
			r.add(Note, "classes-not-judged", fmt.Sprintf("classes on no %s of %s: %d of %d; they have no average precision "+
				"there", r.Samples.One(), s.Name, n, s.Labels.Classes),
				fmt.Sprintf("hold out more %v, or evaluate the other classes", r.Samples), some(s.Labels.Never)...)
		}
		if n := s.Labels.Unknown; n > 0 {
			r.add(Note, "unknown-labels", fmt.Sprintf("unknown labels of %s: %d (%s); they are left out", s.Name, n,
				percent(n, s.Bags*s.Labels.Classes)), "write 0 if an empty cell or -1 means that the label is absent")
		}
		if n := s.Labels.Unlabelled; n > 0 {
			weight := Note
			if 2*n > s.Bags {
				weight = Warning
			}
			r.add(weight, "samples-without-label", fmt.Sprintf("%v of %s without any label: %d (%s)", r.Samples, s.Name, n,
				percent(n, s.Bags)), "check that their labels were not lost; with captions, use a larger vocabulary "+
				"(`data.vocabulary_size`, `data.min_count`)")
		}
	}
}

func (r *Report) trainingLabels(s *SplitReport) {
	l, one := &s.Labels, r.Samples.One()
	if n := len(l.Never); n > 0 {
		r.add(Warning, "empty-classes",
			fmt.Sprintf("classes on no %s of %s: %d of %d; they cannot be learned", one, s.Name, n, l.Classes),
			fmt.Sprintf("leave them out of the vocabulary (`data.vocabulary`, `data.min_count`) or of the label columns "+
				"(`data.features.label_columns`), or add %v that have them", r.Samples), some(l.Never)...)
	}
	if n := len(l.Always); n > 0 {
		r.add(Warning, "constant-classes", fmt.Sprintf("classes on every %s of %s: %d of %d; they do not distinguish %v", one,
			s.Name, n, l.Classes, r.Samples), "leave them out of the vocabulary (`data.vocabulary`) or of the label columns "+
			"(`data.features.label_columns`)", some(l.Always)...)
	}
	if l.Rare > 0 {
		r.add(Note, "rare-classes", fmt.Sprintf("classes on fewer than %d %v of %s: %d of %d; they are hard to learn, and "+
			"their noise rates are uncertain", rareBelow, r.Samples, s.Name, l.Rare, l.Classes),
			"leave them out (`data.min_count`, `data.vocabulary_size`), or read their results with care")
	}
}

// packedLabels finds labels that look like lists in one string each, by the words of the training split and by whether
// any bag has two of them.
func (r *Report) packedLabels(splits []Split, o *Options) {
	if len(splits) == 0 {
		return
	}
	train := splits[0].Set
	p, found := loader.FindPacked(train.Vocabulary.Texts(), loader.OneEach(train.Labels))
	if !found {
		return
	}
	weight := Error
	if o.Named {
		weight = Warning
	}
	r.add(weight, "packed-labels", "labels look like lists in one string: "+p.String(), p.Cure()+"; "+p.Names(), p.Example)
}

// alikeLabels finds classes whose names differ in spelling alone. Words of captions are spelled by the vocabulary.
func (r *Report) alikeLabels(splits []Split, o *Options) {
	if len(splits) == 0 || !o.JoinLabels {
		return
	}
	groups := text.AlikeNames(splits[0].Set.Vocabulary.Texts())
	if len(groups) == 0 {
		return
	}
	var examples []string
	for _, group := range groups {
		examples = append(examples, strings.Join(group, " and "))
	}
	r.add(Warning, "alike-classes", fmt.Sprintf("classes whose names differ only in case, blanks, hyphens or "+
		"underscores: %s; each is learned separately", text.Plural("groups").Count(len(groups))),
		"if they are one class, use one name, or set `data.join_labels` true", some(examples)...)
}
