package doctor

import (
	"context"
	"fmt"
	"slices"

	"nmn/loader"
	"nmn/loader/picture"
	"nmn/text"
)

// Split is a set with its name, such as train. The first of several is the one to train on.
type Split struct {
	Name string
	Set  *loader.Set
}

// Options describe how to check, and the limits of the planned run.
type Options struct {
	// Sample is the number of pictures of each split that are decoded, drawn at random by Seed; 0 decodes
	// all. Every file is read whatever it is.
	Sample                   int
	Seed                     uint64
	Workers                  int                 // goroutines that read and decode, at least 1
	MaxPixels, MaxBadSamples int                 // the run's limits
	Orientation              picture.Orientation // how the run handles the orientation of pictures
	// Missing is set if the run accepts missing features, Standardise if it standardises features.
	Missing, Standardise bool
	Named                bool // the user has named the classes: a run accepts labels that look like lists
	// Found, where not nil, is called with what labels and identifiers show, before pictures or rows are read.
	Found      func([]Finding)
	JoinLabels bool           // classes come from labels that data.join_labels can join
	Progress   func(Progress) // where not nil, is called with how far a pass is; calls do not overlap
}

// Progress is how far a pass over pictures or rows is.
type Progress struct {
	Pass        string // pictures or rows
	Done, Total int
}

// Report is what was found.
type Report struct {
	Splits   []SplitReport `json:"splits"`
	Overlaps []Overlap     `json:"overlaps,omitempty"` // one per pair of splits
	Features *Features     `json:"features,omitempty"`
	Findings []Finding     `json:"findings"` // the worst first
	// Samples and Files are the nouns for bags and for their pictures or frames.
	Samples text.Plural `json:"-"`
	Files   text.Plural `json:"-"`
}

// SplitReport is what one split is.
type SplitReport struct {
	Name     string    `json:"split"`
	Bags     int       `json:"samples"`
	Frames   int       `json:"frames"`
	Longest  int       `json:"longest_sample"` // its frames
	Labels   Labels    `json:"labels"`
	Pictures *Pictures `json:"pictures,omitempty"`
	Rows     *Rows     `json:"rows,omitempty"` // statistics of features
}

// Overlap is what two splits share that they should not: how many bags of the second are in the first too.
type Overlap struct {
	First  string `json:"first"`
	Second string `json:"second"`
	IDs    int    `json:"same_id"` // 0 if bags are named only by their row number
	// Content counts pictures with the same bytes, or rows of features with the same numbers.
	Content int `json:"same_content"`
	// Near counts bags of the second with a picture that looks like one of the first, of other bytes.
	Near int `json:"same_look"`
	// Captions counts bags whose captions, several words in all, mention the same words in the same order.
	Captions int `json:"same_captions"`
}

// Examine checks the splits of a data set. An error means that it could not check; problems of the data are
// in the report.
func Examine(ctx context.Context, splits []Split, o Options) (*Report, error) {
	r := &Report{Findings: []Finding{}, Files: "pictures"}
	if len(splits) > 0 {
		r.Samples = splits[0].Set.Noun()
		if splits[0].Set.Videos() {
			r.Files = "frames"
		}
	}
	for _, s := range splits {
		if s.Set.Labels == nil {
			return nil, fmt.Errorf("doctor: the labels of %s are not in memory", s.Name)
		}
		r.Splits = append(r.Splits, SplitReport{Name: s.Name, Bags: s.Set.Len(), Frames: s.Set.AllFrames(),
			Longest: s.Set.LongestBag(), Labels: measureLabels(s.Set)})
	}
	for second := range splits {
		for first := range second {
			r.Overlaps = append(r.Overlaps, Overlap{First: splits[first].Name, Second: splits[second].Name})
		}
	}
	r.labelFindings()
	r.packedLabels(splits, &o)
	r.alikeLabels(splits, &o)
	r.compareBags(splits)
	if o.Found != nil {
		o.Found(slices.Clone(r.Findings))
	}
	look := r.lookAtPictures
	if len(splits) > 0 && splits[0].Set.Vectors != nil {
		look = r.lookAtRows
	}
	if err := look(ctx, splits, o); err != nil {
		return nil, err
	}
	Sort(r.Findings)
	return r, nil
}

func (r *Report) add(w Weight, kind, text, cure string, examples ...string) {
	r.Findings = append(r.Findings, Finding{Weight: w, Kind: kind, Text: text, Cure: cure, Examples: examples})
}

// overlap is the pair of two splits by their numbers, in any order.
func (r *Report) overlap(a, b int) *Overlap {
	first, second := r.Splits[min(a, b)].Name, r.Splits[max(a, b)].Name
	at := slices.IndexFunc(r.Overlaps, func(o Overlap) bool { return o.First == first && o.Second == second })
	return &r.Overlaps[at]
}
