package paper

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"nmn/experiment"
	"nmn/paper/claims"
	"nmn/paper/table4"
	"nmn/recipe"
	"nmn/run"
)

// Plan is the parts and the training of a reproduction.
type Plan struct {
	Settings Settings
	Parts    []PlannedPart // those that were asked for, in the order of the page
	Units    []Unit        // what is trained for them, in order

	scale float64 // measured by speed; 0 before

	Rename func(text string) string // replaces the keys of settings in texts by the names in a program; nil for the keys
}

// PlannedPart is a part with the data that it is made of.
type PlannedPart struct {
	Name  Part
	Title string
	Data  string // of results, as package claims names them; empty where the part needs none
	Skip  string // why it cannot be made; empty where it can
}

// Unit is training with its own folder below the folder of the reproduction: a grid of runs, or the
// captioners of Table 4. Grids on equal data share a folder, and their common runs are trained once.
type Unit struct {
	Title    string
	Data     string
	Folder   string             // below that of the reproduction, with slashes
	Grid     *experiment.Grid   // nil for captioners
	Captions *table4.Experiment // nil for a grid
	parts    []Part             // that it is for
	seedTime time.Duration      // measured time of the runs of a seed of a grid; 0 before
}

type kind int

const (
	ofNothing kind = iota
	ofPictures
	ofClips
	ofCaptions
)

type need struct {
	levels    []float64
	arms      []recipe.Name
	mil       experiment.MIL
	estimated bool // by the recipe that estimates rates
}

// figure4Noise and observedNoise are the shares of replaced captions in the paper's Figure 4 and in its figures of the
// observed distribution. emNoise is the share for the comparison with EM, which the paper does not state.
const (
	figure4Noise  = .4
	observedNoise = .8
	emNoise       = .4
)

// partPlan describes a part: its title, its source, and the runs that it is made of.
type partPlan struct {
	name  Part
	title string
	from  kind
	needs []need
}

// partPlans lists all parts in the order of the page.
func partPlans() []partPlan {
	all := func(levels ...float64) need {
		return need{levels: levels, arms: recipe.PaperArms(), mil: experiment.BothMIL}
	}
	some := func(levels []float64, mil experiment.MIL, arms ...recipe.Name) need {
		return need{levels: levels, arms: arms, mil: mil}
	}
	figure4 := all(figure4Noise)
	figure4.mil = experiment.WithMIL
	beyond := []float64{.2, .4, .6}
	estimated := some(beyond, experiment.WithoutMIL, recipe.HeldRates, recipe.CaptionFilter)
	estimated.estimated = true
	return []partPlan{
		{name: Table1, from: ofPictures, needs: []need{all(0)},
			title: "Table 1: concept detection without replaced captions"},
		{name: Table2, from: ofPictures, needs: []need{all(.2, .4, .6, .8)},
			title: "Table 2: concept detection with replaced captions"},
		{name: Table3, from: ofClips, needs: []need{all(0)}, title: "Table 3: concept detection in videos"},
		{name: Table4, from: ofCaptions, title: "Table 4: captions of videos"},
		{name: Figure3, from: ofNothing, title: "Figure 3: the derivative of the loss"},
		{name: Figure4, from: ofPictures, needs: []need{figure4},
			title: "Figure 4: predictions for pictures, at 40 % replaced captions"},
		{name: Observed, from: ofPictures, title: "The observed distribution under much noise",
			needs: []need{some([]float64{observedNoise}, experiment.BothMIL, recipe.FD)}},
		{name: EM, from: ofPictures, title: "Appendix: joint training and expectation-maximisation",
			needs: []need{some([]float64{emNoise}, experiment.WithoutMIL, recipe.Stage1, recipe.Baseline, recipe.FI,
				recipe.EM)}},
		{name: Beyond, from: ofPictures, title: "Beyond the paper: estimated rates, and captions as witnesses",
			needs: []need{some(beyond, experiment.WithoutMIL, recipe.Baseline, recipe.FI), estimated}},
	}
}

func (p Part) needs() []need {
	plans := partPlans()
	return plans[slices.IndexFunc(plans, func(of partPlan) bool { return of.name == p })].needs
}

// New plans a reproduction. It looks for the files of the paper's data. Nothing is read, trained or written. Wrong
// settings are a *setting.Error.
func New(s Settings) (*Plan, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	p := &Plan{Settings: s}
	data := p.data()
	for _, part := range partPlans() {
		if len(s.Only) > 0 && !slices.Contains(s.Only, part.name) {
			continue
		}
		of := data[part.from]
		p.Parts = append(p.Parts, PlannedPart{Name: part.name, Title: part.title, Data: of.name, Skip: of.missing})
		if of.missing != "" {
			continue
		}
		if err := p.add(part, of); err != nil {
			return nil, err
		}
	}
	p.fold()
	return p, nil
}

// fold drops the grids all of whose runs others have that come before, and notes what those are for.
func (p *Plan) fold() {
	have := map[string]int{}
	var kept []Unit
	for _, u := range p.Units {
		fresh := u.Captions != nil
		asked := u.asked()
		for _, one := range asked {
			if _, there := have[one]; !there {
				fresh = true
			}
		}
		for _, one := range asked {
			at, there := have[one]
			if !there {
				have[one] = len(kept)
			} else if !fresh && !slices.Contains(kept[at].parts, u.parts[0]) {
				kept[at].parts = append(kept[at].parts, u.parts...)
			}
		}
		if fresh {
			kept = append(kept, u)
		}
	}
	p.Units = kept
}

// asked names the runs of a grid that it is asked for, whatever their seeds: of equal ones one is trained.
func (u *Unit) asked() (all []string) {
	if u.Grid == nil {
		return nil
	}
	for _, level := range u.Grid.ReplaceCaptions {
		for _, arm := range u.Grid.Arms {
			for _, mil := range []bool{false, true} {
				if mil && u.Grid.MIL != experiment.WithoutMIL || !mil && u.Grid.MIL != experiment.WithMIL {
					all = append(all, fmt.Sprintf("%s/%g/%s/%t", u.Folder, level, arm, mil))
				}
			}
		}
	}
	return all
}

// source is the origin of the runs for a kind of parts.
type source struct {
	name, missing string
	config        func() run.Config
}

// data are the sources of the kinds of parts.
func (p *Plan) data() map[kind]source {
	s := &p.Settings
	if !s.real() {
		return map[kind]source{ofPictures: {name: claims.Scenes, config: s.pictures},
			ofClips:    {name: claims.MovingScenes, config: s.clips},
			ofCaptions: {name: claims.MovingScenes, config: s.clips}}
	}
	pictures, clips := source{name: claims.COCO}, source{name: claims.MSRVTT}
	pictures.missing = "its data are COCO: name their folder by `reproduce.coco`"
	clips.missing = "its data are MSR-VTT: name their folder by `reproduce.msrvtt`"
	if s.COCO != "" {
		c, missing := s.coco()
		pictures.missing, pictures.config = missing, func() run.Config { return c }
	}
	if s.MSRVTT != "" {
		c, missing := s.msrvtt()
		clips.missing, clips.config = missing, func() run.Config { return c }
	}
	return map[kind]source{ofPictures: pictures, ofClips: clips, ofCaptions: clips}
}

func (p *Plan) add(part partPlan, of source) error {
	if part.from == ofCaptions {
		return p.addCaptions(part.name, of)
	}
	for _, n := range part.needs {
		if err := p.addGrid(part.name, of, n); err != nil {
			return err
		}
	}
	return nil
}

// addGrid plans runs. Table 2 follows Table 1 and has the same arms at higher levels, so its runs join that grid.
func (p *Plan) addGrid(part Part, of source, n need) error {
	folder := of.name
	if n.estimated {
		folder += "-estimated"
	}
	if last := len(p.Units) - 1; last >= 0 {
		u := &p.Units[last]
		if u.Folder == folder && u.Grid.MIL == n.mil && slices.Equal(u.Grid.Arms, n.arms) {
			u.parts, u.Grid.ReplaceCaptions = append(u.parts, part), append(u.Grid.ReplaceCaptions, n.levels...)
			return nil
		}
	}
	c := of.config()
	if n.estimated {
		c.Recipe.Form, c.Recipe.Captions = recipe.Estimate, recipe.Witness
	}
	c.Arm = ""
	g := experiment.New(c, filepath.Join(p.Settings.Dir, filepath.FromSlash(folder)))
	g.Arms, g.Chosen, g.MIL, g.Seeds = n.arms, true, n.mil, p.Settings.Seeds
	g.ReplaceCaptions = slices.Clone(n.levels)
	if err := g.Resolve(); err != nil {
		return fmt.Errorf("%s: %w", part, err)
	}
	p.Units = append(p.Units, Unit{Title: "nets on " + of.name, Data: of.name, Folder: folder, Grid: &g,
		parts: []Part{part}})
	return nil
}
