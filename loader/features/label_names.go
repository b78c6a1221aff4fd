package features

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// labelNames are what columns of labels are called.
var labelNames = []string{"labels", "label", "tags", "tag", "classes", "class", "class_name", "categories", "category",
	"target", "y"}

// isLabelName reports whether a column's name marks it as labels, and no option makes it a feature.
func (o *Options) isLabelName(column string) bool {
	return slices.Contains(labelNames, strings.ToLower(column)) &&
		!slices.ContainsFunc(o.FeatureColumns, func(pattern string) bool {
			ok, err := path.Match(pattern, column)
			return pattern == column || err == nil && ok
		})
}

// isIndexName reports whether pandas calls the index of a table so, if it reads a table with an index and writes it
// again. As a feature, it would give away how rows are sorted.
func isIndexName(column string) bool {
	return strings.HasPrefix(column, "Unnamed: ") || strings.HasPrefix(column, "__index_level_")
}

// infer takes a column with a label's name for the labels, if nothing else identifies them. If there are
// other labels, such a column is an error: as a feature it would leak the labels.
func (o *Options) infer(columns []string, l *layout) error {
	var found []int
	for _, c := range l.features {
		if o.isLabelName(columns[c]) {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return nil
	}
	if l.list >= 0 || len(l.labels) > 0 || o.Labels != "" || o.LabelArray != "" || o.LabelsElsewhere {
		if !o.Unlabelled {
			l.suspects = found
		}
		return nil
	}
	if len(found) > 1 {
		return formatf("columns %q and %q have names of labels; set which holds them (`data.features.list_column`, "+
			"`data.features.label_columns`), and the role of the other (`data.features.ignore_columns`, "+
			"`data.features.feature_columns`)", clip(columns[found[0]]), clip(columns[found[1]]))
	}
	l.list, l.inferred = found[0], true
	l.features = slices.DeleteFunc(l.features, func(c int) bool { return c == found[0] })
	return nil
}

// suspect is a column that may be labels, though it was read as a feature.
type suspect struct {
	column int
	whole  bool // every number so far is whole
}

// look looks at the numbers of a suspect in the current row.
func (s *suspect) look(values []float32) {
	for _, v := range values {
		if v == v && v != float32(int32(v)) {
			s.whole = false
		}
	}
}

// checkSuspects refuses features that are whole numbers in all rows and are called as labels are.
func (d *decoded) checkSuspects() error {
	for _, s := range d.suspects {
		if s.whole {
			name := clip(d.columns[s.column])
			return formatf("column %d (%s): it has a label's name and holds whole numbers: leave it out "+
				"(`data.features.ignore_columns` %s), or make it a feature (`data.features.feature_columns` %s)",
				s.column+1, name, name, name)
		}
	}
	return nil
}

// checkInferred refuses what cannot be labels in a column that was taken for them by its name.
func (d *decoded) checkInferred(column int) error {
	name := clip(d.columns[column])
	cure := fmt.Sprintf("make it a feature (`data.features.feature_columns` %s), or leave it out "+
		"(`data.features.ignore_columns` %s)", name, name)
	binary := true
	for i, list := range d.lists {
		for _, label := range list {
			n, err := strconv.ParseFloat(label, 64)
			if err == nil && n != float64(int(n)) {
				return formatf("row %d, column %d (%s): it has a label's name, but %q is no class; %s", i+1, column+1,
					name, clip(label), cure)
			}
			binary = binary && (label == "0" || label == "1" || label == "0.0" || label == "1.0")
		}
	}
	if binary {
		return formatf("column %d (%s): its cells are 0 and 1: set whether these are two classes "+
			"(`data.features.list_column` %s), or whether 1 means that the label %q holds "+
			"(`data.features.label_columns` %s); or else %s", column+1, name, name, name, name, cure)
	}
	return nil
}

// numbered converts class numbers, from 0, to lists of one name each: their words, or the numbers themselves,
// normalised because programs write them with or without a fraction. ok is false if one is not a number.
func numbered(lists [][]string, words []string) (named [][]string, ok bool, err error) {
	if slices.ContainsFunc(words, func(w string) bool { _, err := strconv.Atoi(w); return err == nil }) {
		words = nil // numbers are names themselves
	}
	named = make([][]string, len(lists))
	for i, list := range lists {
		for _, label := range list {
			k, bad := strconv.Atoi(strings.TrimSuffix(label, ".0"))
			switch {
			case bad != nil || strconv.Itoa(k) != strings.TrimSuffix(label, ".0"):
				return nil, false, nil
			case k < 0 || k >= mostClasses || words != nil && k >= len(words):
				return nil, true, valuef("row %d: %d is not the number of a class, 0 to %d", i+1, k, classesOf(words)-1)
			case words == nil:
				named[i] = append(named[i], strconv.Itoa(k))
			default:
				named[i] = append(named[i], words[k])
			}
		}
	}
	return named, true, nil
}

func classesOf(words []string) int {
	if words == nil {
		return mostClasses
	}
	return len(words)
}

// byNumber sorts words that are numbers by these, others by name.
func byNumber(words []string) {
	slices.SortFunc(words, func(a, b string) int {
		x, errA := strconv.Atoi(a)
		y, errB := strconv.Atoi(b)
		if errA == nil && errB == nil && x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
}
