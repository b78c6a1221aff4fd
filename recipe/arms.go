package recipe

import (
	"context"
	"slices"

	"nmn/internal/setting"
	"nmn/model"
	"nmn/train"
)

// Name names an arm in configurations, flags and folders.
type Name string

// The arms of the paper: stage 1 alone, and three ways to go on from it.
const (
	Stage1   Name = "stage1"
	Baseline Name = "baseline" // VGG16*: more epochs without a noise model, so that the comparison is fair
	FI       Name = "nmn-fi"
	FD       Name = "nmn-fd"
)

// The arms of the recipe. Noise rates are estimated before they train. HeldRates learns through a noise model
// that keeps these rates fixed. SoftLabels learns the posterior of each label, computed from nets that have
// not seen the label.
const (
	HeldRates  Name = "held-rates"
	SoftLabels Name = "soft-labels"
)

// CaptionFilter learns from the captions that belong to their own bags. Captions are judged by the other
// captions of their bag and by scores. Noise rates are estimated from the captions that are kept. If most
// captions are foreign, all captions are learned as evidence.
const CaptionFilter Name = "caption-filter"

// EM is the baseline of the paper's appendix, expectation-maximisation: from stage 1 on, every epoch learns from
// what was believed of each label before it, and the rates are found anew.
const EM Name = "em"

// Rival arms: fresh nets that learn for as many epochs as both stages have together.
const (
	BaselineEarly Name = "baseline-early" // the baseline, ended where the loss on held-out noisy labels is least
	Forward       Name = "forward"        // through a transition matrix that is held (Patrini et al., 2017)
	ForwardTrue   Name = "forward-true"   // through the true one of the training labels
	ASL           Name = "asl"            // by the losses of these names
	LLR           Name = "ll-r"
	LLCt          Name = "ll-ct"
	Pruned        Name = "pruned" // without the labels that the out-of-fold audit finds wrong
	Clean         Name = "clean"  // from the true labels: the ceiling
)

// Arm is a row of the tables: what is trained, from where, by which loss and through which noise model.
type Arm struct {
	Name  Name
	Title string // the arm's name in tables; with MIL, " + MIL" follows it
	// Meaning says what it is in a line; {stage1} stands for the length of stage 1, {stage2} for that of stage 2, both
	// in words such as "3 epochs".
	Meaning    string
	Stage      int             // 1 for a net that is trained from its start, and 2 for one that goes on from stage 1
	Noise      model.NoiseMode // the noise model that it learns through
	Loss       string          // the kind of a loss that belongs to the arm; empty for that of the configuration
	Rival      bool            // a net of its own that is trained for as long as both stages together
	NoiseRates bool            // learns through rates that are known before: estimated, or of a file
	Learned    bool            // finds the rates itself, from a start
	// Folds is true if the arm learns from predictions by nets of folds for labels that they have not seen.
	Folds     bool
	Captions  bool // needs captions, and learns those that are judged to be of their bags
	Exclusive bool // also trains classes that exclude each other
	Taught    bool // has the true labels of the training set, or their noise rates
	// plan completes what the arm is trained with; nil for the plain settings.
	plan func(*planner, context.Context) error
}

// LossOf returns the loss that the arm trains with: the configured one if the arm has no loss or the same, otherwise
// its own with default parameters.
func (a *Arm) LossOf(configured train.LossConfig) train.LossConfig {
	if a.Loss == "" || a.Loss == configured.Kind {
		return configured
	}
	return train.DefaultLoss(a.Loss)
}

// Arms lists all arms in the order of tables. It is the only list of them: flags, help, reports, experiments and
// training take names and meanings from here.
func Arms() []Arm {
	return []Arm{
		{Name: Stage1, Title: "stage 1", Stage: 1, Noise: model.NoNoise, Exclusive: true, plan: (*planner).stage1,
			Meaning: "the classifier alone on the noisy labels, {stage1}"},
		{Name: Baseline, Title: "baseline", Stage: 2, Noise: model.NoNoise, Exclusive: true,
			Meaning: "the same for {stage2} more, so that the comparison is fair"},
		{Name: BaselineEarly, Title: "baseline, in time", Stage: 1, Noise: model.NoNoise, Rival: true,
			plan: (*planner).baselineEarly, Meaning: "the baseline, ended where the loss on held-out noisy labels is least"},
		{Name: FI, Title: "NMN-FI", Stage: 2, Noise: model.FeatureIndependent, Learned: true,
			Meaning: "{stage2} more with a noise model that is the same for all pictures"},
		{Name: FD, Title: "NMN-FD", Stage: 2, Noise: model.FeatureDependent, Learned: true,
			Meaning: "{stage2} more with a noise model that sees each picture's features"},
		{Name: CaptionFilter, Title: "caption filter", Stage: 2, Noise: model.FeatureIndependent, NoiseRates: true,
			Captions: true, plan: (*planner).captions,
			Meaning: "more on what the captions say, each weighted by the probability that it belongs to its picture"},
		{Name: HeldRates, Title: "held rates", Stage: 2, Noise: model.FeatureIndependent, NoiseRates: true,
			Exclusive: true, plan: (*planner).heldRates,
			Meaning: "more with a noise model whose rates were estimated from the noisy labels alone, and are held"},
		{Name: SoftLabels, Title: "soft labels", Stage: 2, Noise: model.FeatureIndependent, Folds: true,
			plan:    (*planner).softLabels,
			Meaning: "more on posteriors of the labels, by nets that have not seen them"},
		{Name: EM, Title: "EM", Stage: 2, Noise: model.FeatureIndependent, Learned: true, plan: (*planner).em,
			Meaning: "{stage2} more on posteriors that are renewed after each, with the rates (expectation-maximisation)"},
		{Name: Forward, Title: "forward", Stage: 1, Noise: model.FeatureIndependent, Rival: true, NoiseRates: true,
			plan:    (*planner).forward,
			Meaning: "from the start through the rates of the recipe or file, held (forward correction)"},
		{Name: ForwardTrue, Title: "forward, true T", Stage: 1, Noise: model.FeatureIndependent, Rival: true,
			Taught: true, plan: (*planner).forwardTrue, Meaning: "from the start through the true rates, held"},
		{Name: ASL, Title: "ASL", Stage: 1, Noise: model.NoNoise, Rival: true, Loss: train.Asymmetric,
			Meaning: "from the start by the asymmetric loss"},
		{Name: LLR, Title: "LL-R", Stage: 1, Noise: model.NoNoise, Rival: true, Loss: train.RejectLarge,
			Meaning: "from the start, the labels 0 with the largest losses left out"},
		{Name: LLCt, Title: "LL-Ct", Stage: 1, Noise: model.NoNoise, Rival: true, Loss: train.CorrectLarge,
			Meaning: "from the start, the labels 0 with the largest losses taken as 1"},
		{Name: Pruned, Title: "pruned", Stage: 1, Noise: model.NoNoise, Rival: true, Folds: true,
			plan:    (*planner).pruned,
			Meaning: "from the start without the labels that nets of folds find wrong"},
		{Name: Clean, Title: "clean labels", Stage: 1, Noise: model.NoNoise, Rival: true, Taught: true,
			Exclusive: true, plan: (*planner).clean,
			Meaning: "from the start on the true labels: the ceiling"},
	}
}

// Values lists all arms.
func (Name) Values() []string { return setting.Texts(Names()) }

// Names returns the names of all arms, in the order of tables.
func Names() []Name {
	all := Arms()
	names := make([]Name, len(all))
	for i, a := range all {
		names[i] = a.Name
	}
	return names
}

// PaperArms returns the arms of the paper's tables.
func PaperArms() []Name { return []Name{Stage1, Baseline, FI, FD} }

// Arm is the row of an arm, and whether there is one.
func (a Name) Arm() (Arm, bool) {
	all := Arms()
	if i := a.Place(); i < len(all) {
		return all[i], true
	}
	return Arm{}, false
}

// Place is where an arm stands in tables; unknown ones come last.
func (a Name) Place() int {
	all := Arms()
	if i := slices.IndexFunc(all, func(e Arm) bool { return e.Name == a }); i >= 0 {
		return i
	}
	return len(all)
}

// Title is what tables call an arm; an unknown one is called by its name.
func (a Name) Title(mil bool) string {
	title := string(a)
	if e, ok := a.Arm(); ok {
		title = e.Title
	}
	if mil {
		title += " + MIL"
	}
	return title
}

// folder returns the name of an arm's run folder, which distinguishes it from the folders of other arms.
func (a Name) folder(mil bool) string { return string(a) + Suffix(mil) }

// Rival reports whether an arm trains a net of its own for as long as both stages, instead of going on from stage 1.
func (a Name) Rival() bool {
	e, _ := a.Arm()
	return e.Rival
}

// Noise is the noise model that an arm trains through, or holds.
func (a Name) Noise() model.NoiseMode {
	if e, ok := a.Arm(); ok {
		return e.Noise
	}
	return model.NoNoise
}

// ForTraining returns the arm as package train defines it, with or without MIL.
func (a Name) ForTraining(mil bool) (train.Arm, error) {
	e, ok := a.Arm()
	if !ok {
		return train.Arm{}, setting.Errorf("arm", "arm is %q, want one of %q", a, Names())
	}
	return train.Arm{Name: a.folder(mil), MIL: mil, Stage: e.Stage, Noise: e.Noise}, nil
}

// Suffix follows the name of an arm in the folder of its run.
func Suffix(mil bool) string {
	if mil {
		return "-mil"
	}
	return ""
}
