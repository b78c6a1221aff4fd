package loader

import (
	"fmt"
	"slices"
	"strings"

	dense "gorgonia.org/tensor"
)

// Packed reports labels that look like lists in one string each, such as "dog,cat" for a dog and a cat: each
// such string would become a class of its own.
type Packed struct {
	Separator string // separator of the parts, as text
	Lists     int    // labels that hold it
	Labels    int    // all labels
	Parts     int    // different parts of the lists
	Recurring int    // parts that are labels themselves, or that come first in one list and later in another
	Sharing   int    // lists that have a part in common with another label
	Common    int    // lists that have the most frequent part
	Example   string // one of the lists, the first
	Cured     string // the parts of Example as a manifest separates them
}

// separators are common separators of labels, the surest signs first. Many names have a blank too.
var separators = []struct {
	of, name string
	// least is the smallest share of the labels that must hold it, sure the share of parts that must recur.
	least, sure float64
	// alone is set if no bag may have two labels: if labels are separate already, the separator is part of
	// names.
	alone bool
}{
	{",", "a comma", .1, .5, false},
	{";", "a semicolon", .1, .5, false},
	{"|", "a vertical bar", .1, .5, false},
	{" ", "a blank", .5, .6, true},
}

// FindPacked looks for lists among labels, the names of classes. alone reports that no bag has two of them.
// They are no lists if only some hold a separator, or if their parts mean nothing by themselves, such as
// "traffic light" and "Smith, John".
func FindPacked(labels []string, alone bool) (*Packed, bool) {
	if p := findBracketed(labels); p != nil {
		return p, true
	}
	for _, s := range separators {
		if s.alone && !alone {
			continue
		}
		p := &Packed{Separator: s.name, Labels: len(labels)}
		p.count(labels, s.of)
		if p.Lists > 1 && float64(p.Lists) >= s.least*float64(p.Labels) && float64(p.Recurring) >= s.sure*float64(p.Parts) {
			return p, true
		}
	}
	return nil, false
}

// findBracketed looks for lists of JSON, Python and the like: most labels stand in brackets.
func findBracketed(labels []string) *Packed {
	p := &Packed{Separator: "brackets", Labels: len(labels)}
	inner := make([]string, 0, len(labels))
	for _, label := range labels {
		if len(label) < 2 || label[0] != '[' || label[len(label)-1] != ']' {
			continue
		}
		list := strings.Map(func(r rune) rune {
			if r == '"' || r == '\'' {
				return -1
			}
			return r
		}, label[1:len(label)-1])
		inner = append(inner, list)
		if p.Example == "" || !strings.Contains(p.Example, ",") && strings.Contains(list, ",") {
			p.Example, p.Cured = label, strings.Join(parts(list, ","), ";")
		}
	}
	if 2*len(inner) < len(labels) || len(inner) == 0 {
		return nil
	}
	of := Packed{}
	of.count(inner, ",")
	p.Lists, p.Parts, p.Recurring = len(inner), of.Parts, of.Recurring
	return p
}

// count counts the labels that hold a separator, their parts, how many of these recur, and the lists that have parts in
// common.
func (p *Packed) count(labels []string, separator string) {
	type part struct {
		whole, first, later bool // it is a label, and stands first or later in a list
		labels, lists       int  // that have it
	}
	all := map[string]*part{}
	of := func(name string) *part {
		if all[name] == nil {
			all[name] = new(part)
		}
		return all[name]
	}
	for _, label := range labels {
		of(strings.TrimSpace(label)).whole = true
		list := parts(label, separator)
		if len(list) > 1 {
			if p.Lists++; p.Example == "" {
				p.Example, p.Cured = label, strings.Join(list, ";")
			}
			of(list[0]).first = true
			for _, name := range list[1:] {
				of(name).later = true
			}
		}
		distinct := distinctParts(label, separator)
		for _, name := range distinct {
			of(name).labels++
			if len(distinct) > 1 {
				of(name).lists++
			}
		}
	}
	for _, part := range all {
		p.Common = max(p.Common, part.lists)
		if part.first || part.later {
			p.Parts++
		}
		if part.first && part.later || part.whole && (part.first || part.later) {
			p.Recurring++
		}
	}
	for _, label := range labels {
		list := distinctParts(label, separator)
		if len(list) > 1 && slices.ContainsFunc(list, func(name string) bool { return all[name].labels > 1 }) {
			p.Sharing++
		}
	}
}

func distinctParts(label, separator string) []string {
	of := parts(label, separator)
	slices.Sort(of)
	return slices.Compact(of)
}

// parts returns the parts of a label between separators, without empty ones.
func parts(label, separator string) []string {
	of := strings.Split(label, separator)
	kept := of[:0]
	for _, part := range of {
		if part = strings.TrimSpace(part); part != "" {
			kept = append(kept, part)
		}
	}
	return kept
}

// String describes the lists found, for messages.
func (p *Packed) String() string {
	return fmt.Sprintf("%q looks like a list of labels in one string: %d of %d labels hold %s, and %d of the %d parts "+
		"between recur", Excerpt(p.Example), p.Lists, p.Labels, p.Separator, p.Recurring, p.Parts)
}

// Cure returns the form that the example should have.
func (p *Packed) Cure() string {
	return fmt.Sprintf("separate labels by ; or | (%s), or in JSON lines write them as an array ([\"%s\"])",
		Excerpt(p.Cured), strings.ReplaceAll(Excerpt(p.Cured), ";", `", "`))
}

// Names returns what to do if such strings are names after all; the line is in the format of package text.
func (p *Packed) Names() string {
	return fmt.Sprintf("if such strings are names, list all labels in a vocabulary file (`data.vocabulary`), each on "+
		"a line of its own with part of speech and count: %s, other, 1", Excerpt(p.Example))
}

// OneEach reports whether no bag has two labels; labels are bags×classes, 0 or 1.
func OneEach(labels *dense.Dense) bool {
	values, k := labels.Uint8s(), labels.Shape()[1]
	for bag := 0; bag*k < len(values); bag++ {
		n := 0
		for _, z := range values[bag*k : (bag+1)*k] {
			if z != UnknownLabel {
				n += int(z)
			}
		}
		if n > 1 {
			return false
		}
	}
	return true
}

// CountPacked returns the parts into which a separator splits labels, whether or not they are lists.
func CountPacked(labels []string, separator string) *Packed {
	p := &Packed{Labels: len(labels)}
	p.count(labels, separator)
	return p
}
