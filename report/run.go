package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"nmn/eval"
	"nmn/labels"
)

// Arms of the paper's experiments, as they are called in configuration files. Other names are
// shown as they are.
const (
	Stage1 = "stage1" // VGG16: the classifier alone
	Star   = "star"   // VGG16*: the classifier alone, trained as long as the others
	NMNFI  = "nmn-fi" // feature-independent noise model
	NMNFD  = "nmn-fd" // feature-dependent noise model
	RN     = "r-n"    // noise model of estimated rates, held
	RS     = "r-s"    // the classifier on what is believed of each label
)

// What a training sample of videos is.
const (
	FrameLevel = "frame" // each frame, with the labels of its video
	VideoLevel = "video" // the video, as one bag
)

// shortNames are those of arms outside of the paper's tables, in the order of rows.
var shortNames = []struct{ arm, name string }{
	{Stage1, "stage 1"}, {Star, "star"}, {"star-early", "star, in time"}, {NMNFI, "NMN-FI"}, {NMNFD, "NMN-FD"}, {RN, "R-N"}, {RS, "R-S"},
	{"forward", "forward"}, {"forward-true", "forward, true T"}, {"asl", "ASL"}, {"ll-r", "LL-R"}, {"ll-ct", "LL-Ct"},
	{"pruned", "pruned"}, {"clean", "clean labels"},
}

func placeOf(arm string) int {
	for i, a := range shortNames {
		if a.arm == arm {
			return i
		}
	}
	return len(shortNames)
}

// Run is one trained and evaluated model, as tables and pages need it.
type Run struct {
	Name    string  // for headings, for example the run folder
	Dataset string  // for example "scenes" or "coco"
	Arm     string  // Stage1, Star, NMNFI, NMNFD or another name
	MIL     bool    // with the multiple-instance layer
	Start   string  // how the noise model came by its rates, shown with the name of the arm; empty for nothing
	Noise   float64 // share of the captions that were replaced, 0 to 1
	Flips   Flips   // of labels; zero where captions were replaced
	Seed    uint64
	Level   string // of a run on videos: FrameLevel or VideoLevel; empty for pictures
	// PaperData says that the data are those of the paper's Tables 1 and 2 (COCO captions, train2014,
	// vocabulary of 1,000 words), or with a level of Table 3 (MSR-VTT, 1,087 words), so that the published
	// figures may stand beside.
	PaperData bool

	Result *eval.Result // nil before the evaluation
	// ThresholdFrom names the probabilities that the threshold θ* was found from; empty where they are those
	// of the evaluation. Audit is nil where the truth of the training labels is not known.
	ThresholdFrom string
	Audit         *AuditFigures
	Epochs        []Epoch // evaluations after each epoch, in their order; nil where none were asked for

	// What follows is for the page of one run alone.
	Config   string       // resolved configuration, as YAML
	Curve    []Point      // in the order of the steps
	Rates    labels.Table // per word; nil without a noise model
	Scored   *Scored      // nil where single scores are not at hand
	Compared *Comparison  // with other arms; nil for none
	Duration time.Duration
}

// Point is one measurement during training.
type Point struct {
	Step  int
	Stage string      // for example "stage1" or "nmn-fd"
	Loss  eval.Number // undefined where not measured at this step
	AP    eval.Number // validation AP as a fraction, undefined where not measured
}

// Title is the name of a run's arm in a table.
func (r *Run) Title() string {
	name := ArmName(r.Arm, r.MIL, r.PaperData)
	if r.Start != "" && !r.PaperData {
		name += ", " + r.Start
	}
	return name
}

// ArmName is the name of an arm in a table: the paper's for the paper's data, else short.
func ArmName(arm string, mil, paper bool) string {
	suffix := ""
	if mil {
		suffix = "-MIL"
	}
	if !paper {
		if i := placeOf(arm); i < len(shortNames) {
			arm = shortNames[i].name
		}
		return strings.Replace(arm+suffix, "-MIL", " + MIL", 1)
	}
	switch arm {
	case Stage1:
		return "VGG16" + suffix
	case Star:
		return "VGG16*" + suffix
	case NMNFI:
		return "VGG16" + suffix + "-NMN-FI"
	case NMNFD:
		return "VGG16" + suffix + "-NMN-FD"
	}
	return "VGG16" + suffix + "-" + arm
}

// cellKey identifies the runs that differ in their seed alone.
type cellKey struct {
	noise float64
	flips Flips
	mil   bool
	arm   string
}

func (r *Run) key() cellKey { return cellKey{r.Noise, r.Flips, r.MIL, r.Arm} }

// compare orders rows as the paper does: noise level, without MIL before with MIL, then the arms.
func (k cellKey) compare(o cellKey) int {
	mil := func(k cellKey) int {
		if k.mil {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(k.noise, o.noise), cmp.Compare(k.flips.Q01, o.flips.Q01), cmp.Compare(k.flips.Q10, o.flips.Q10),
		cmp.Compare(mil(k), mil(o)), cmp.Compare(placeOf(k.arm), placeOf(o.arm)), cmp.Compare(k.arm, o.arm))
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
				return nil, fmt.Errorf("report: %s at noise %s: seed %d is given twice (%q and %q)", ArmName(r.Arm, r.MIL, false), r.key().noiseCell().Text, r.Seed, other.Name, r.Name)
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
type Flips struct {
	Q01 float64 `json:"missing"`   // of a label that holds
	Q10 float64 `json:"incorrect"` // of one that does not
}

// noiseCell is the noise level of a row in percent: that of captions, or of missing and of incorrect
// labels.
func (k cellKey) noiseCell() Cell {
	if k.flips == (Flips{}) {
		return noiseCell(k.noise)
	}
	return words(k.flips.String())
}

// String is both in percent.
func (f Flips) String() string {
	return fmt.Sprintf("%.4g missing, %.4g incorrect", 100*f.Q01, 100*f.Q10)
}

// noiseCell is a noise level in percent.
func noiseCell(share float64) Cell { return whole(share * 100) }
