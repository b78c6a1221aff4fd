package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"nmn/eval"
	"nmn/labels"
	"nmn/text"
)

// Arms of the paper's tables, by their names in configuration files. Callers that make a Run name other arms.
const (
	Stage1   = "stage1"   // VGG16: the classifier alone
	Baseline = "baseline" // VGG16*: the classifier alone, trained as long as the others
	nmnFI    = "nmn-fi"   // feature-independent noise model
	nmnFD    = "nmn-fd"   // feature-dependent noise model
)

// The training samples of videos.
const (
	FrameLevel = "frame" // each frame, with the labels of its video
	VideoLevel = "video" // the video, as one bag
)

// Run is one trained and evaluated model, as tables and pages need it.
type Run struct {
	Name    string // for headings, for example the run folder
	Dataset string // for example "scenes" or "coco"
	Arm     string // Stage1, Baseline, nmnFI, nmnFD or another name
	// ArmTitle is the title of the arm without MIL in tables of other data than the paper's; empty for its
	// name. ArmPlace orders the arms in tables.
	ArmTitle  string
	ArmPlace  int
	MIL       bool    // with the multiple-instance layer
	Start     string  // how the noise model came by its rates, shown with the name of the arm; empty for nothing
	Noise     float64 // share of the captions that were replaced, 0 to 1
	NoiseKind string  // how the captions were replaced; empty for the paper's way
	Flips     Flips   // of labels; zero where captions were replaced
	LeftOut   string  // training bags that could not be used, for people; empty for none
	Augment   string  // how training pictures and labels were changed at random, for people; empty for not at all
	Seed      uint64
	Level     string // of a run on videos: FrameLevel or VideoLevel; empty for pictures
	// PaperData is set if the data are the data of the paper's Tables 1 and 2 (COCO captions, train2014, vocabulary of
	// 1,000 words), or with a level of Table 3 (MSR-VTT, 1,087 words). The published figures are then shown too.
	PaperData bool

	Samples text.Plural // noun for what has labels

	Result      *eval.Result // nil before the evaluation
	NotMeasured string       // the reason why Result has no measures; empty if it has some
	Split       string       // split of Result, for example "test"; empty if unknown
	// ThresholdFrom names the probabilities that the threshold θ* was found from; empty for the evaluated
	// ones. Audit is nil if the truth of the training labels is unknown.
	ThresholdFrom string
	Audit         *AuditFigures
	Epochs        []Epoch // evaluations after each epoch, in their order; nil for none

	// The fields from here on are used by the page of one run. Features names the pretrained net that
	// produced the features, or is empty.
	Features    string
	Weights     string       // which weights were evaluated; empty for the weights of the last step
	Config      string       // resolved configuration, as YAML
	Curve       []Point      // in the order of the steps
	Rates       labels.Table // per word; nil without a noise model
	RateRemarks []string     // about the estimated rates that the noise model holds; nil if it has learned its rates
	RatesHeld   bool         // set if the rates did not change in training
	// Transition is the matrix that the net learned through if classes exclude each other, with a row for each
	// true class; nil for none.
	Transition [][]eval.Number
	Captions   *FoundCaptions // the audit of the captions before training; nil if they were not audited
	Scored     *Scored        // nil where single scores are not at hand
	Compared   *Comparison    // with other arms; nil for none
	Duration   time.Duration
}

// Point is one measurement during training.
type Point struct {
	Step     int         // from the start of the first stage
	Stage    string      // for example "stage1" or "nmn-fd"
	Loss     eval.Number // undefined where not measured at this step
	AP       eval.Number // validation AP as a fraction, undefined where not measured
	Accuracy bool        // set if AP is the accuracy instead, as for classes that exclude each other
}

// Title is the name of a run's arm in a table, with how its noise model came by its rates.
func (r *Run) Title() string {
	name := r.armName()
	if r.Start != "" && !r.PaperData {
		name += ", " + r.Start
	}
	return name
}

// armName is the name of a run's arm in a table: the paper's for the paper's data.
func (r *Run) armName() string {
	switch {
	case r.PaperData:
		return paperName(r.Arm, r.MIL)
	case r.MIL:
		return r.armTitle() + " + MIL"
	}
	return r.armTitle()
}

func (r *Run) armTitle() string { return cmp.Or(r.ArmTitle, r.Arm) }

func paperName(arm string, mil bool) string {
	suffix := ""
	if mil {
		suffix = "-MIL"
	}
	switch arm {
	case Stage1:
		return "VGG16" + suffix
	case Baseline:
		return "VGG16*" + suffix
	case nmnFI:
		return "VGG16" + suffix + "-NMN-FI"
	case nmnFD:
		return "VGG16" + suffix + "-NMN-FD"
	}
	return "VGG16" + suffix + "-" + arm
}

// cellKey identifies the runs that differ in their seed alone.
type cellKey struct {
	noise float64
	kind  string
	flips Flips
	mil   bool
	place int // of the arm
	arm   string
}

func (r *Run) key() cellKey {
	return cellKey{noise: r.Noise, kind: r.NoiseKind, flips: r.Flips, mil: r.MIL, place: r.ArmPlace, arm: r.Arm}
}

// setting is the key without the arm: rivals have the same.
func (k cellKey) setting() cellKey {
	k.arm, k.place = "", 0
	return k
}

// compare orders rows as the paper does: noise level, without MIL before with MIL, then the arms.
func (k cellKey) compare(o cellKey) int {
	mil := func(k cellKey) int {
		if k.mil {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(k.noise, o.noise), cmp.Compare(k.kind, o.kind), cmp.Compare(k.flips.Q01, o.flips.Q01),
		cmp.Compare(k.flips.Q10, o.flips.Q10), cmp.Compare(mil(k), mil(o)), cmp.Compare(k.place, o.place),
		cmp.Compare(k.arm, o.arm))
}

// cellOf is a row of a table: one arm at one noise level, over its seeds.
type cellOf struct {
	cellKey
	runs []Run // with a result, in the order of their seeds
}

// group collects evaluated runs by noise level and arm. Two runs with the same seed are an error:
// they would be counted as independent.
func group(runs []Run) ([]cellOf, error) {
	at := map[cellKey]int{}
	var cells []cellOf
	for _, r := range runs {
		if r.Result == nil {
			continue
		}
		i, ok := at[r.key()]
		if !ok {
			i = len(cells)
			at[r.key()] = i
			cells = append(cells, cellOf{cellKey: r.key()})
		}
		for _, other := range cells[i].runs {
			if other.Seed == r.Seed {
				return nil, fmt.Errorf("report: %s at noise %s: seed %d is given twice (%q and %q)", r.armName(),
					r.key().noiseCell().Text, r.Seed, other.Name, r.Name)
			}
		}
		cells[i].runs = append(cells[i].runs, r)
	}
	for i := range cells {
		slices.SortFunc(cells[i].runs, func(a, b Run) int { return cmp.Compare(a.Seed, b.Seed) })
	}
	slices.SortFunc(cells, func(a, b cellOf) int { return a.compare(b.cellKey) })
	return cells, nil
}

// noiseColumn is the first column of most tables.
const noiseColumn = "noise %"

// Flips are the mean probabilities with which labels were flipped.
type Flips = labels.FlipRates

// noiseCell is the noise level of a row in percent: the level of captions, or of missing and of incorrect labels.
func (k cellKey) noiseCell() Cell {
	switch {
	case k.flips != (Flips{}):
		return words(k.flips.String())
	case k.kind != "":
		return words(noiseCell(k.noise).Text + " " + k.kind)
	}
	return noiseCell(k.noise)
}

func noiseCell(share float64) Cell { return whole(share * 100) }

// AuditFigures measure how well an audit finds the wrong labels of the training set.
type AuditFigures struct {
	AP          eval.Number `json:"ap"`           // average precision over all labels
	IncorrectAP eval.Number `json:"incorrect_ap"` // over labels that are present (z=1); undefined for exclusive classes
	MissingAP   eval.Number `json:"missing_ap"`   // over labels that are absent (z=0); undefined for exclusive classes
	At1000      eval.Number `json:"precision_at_1000"`
	// From names the scores that rank the labels: out-of-fold scores, or the scores of the arm itself.
	From string `json:"from"`
}
