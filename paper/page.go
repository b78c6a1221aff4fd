package paper

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/paper/claims"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	runpage "nmn/run/page"
)

func (p *Plan) page(ctx context.Context, o *Options, f *found,
	verdicts []claims.Verdict) (*report.Reproduction, error) {
	page := &report.Reproduction{Title: "Reproduction of Learning from Noisy Labels with Noise Modeling Network",
		Lead: p.lead(), Facts: p.facts(f, verdicts), Rerun: p.rerun()}
	page.Claims, page.Plots = claims.Tables(verdicts), claims.Plots(verdicts)
	if slices.ContainsFunc(verdicts, func(v claims.Verdict) bool { return v.Data != "" }) {
		last := len(page.Claims) - 1 // the comparisons
		page.Claims, page.Details = page.Claims[:last], page.Claims[last:]
	}
	for i := range p.Parts {
		part, err := p.show(ctx, o, f, &p.Parts[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Parts[i].Name, err)
		}
		page.Parts = append(page.Parts, *part)
	}
	for i := range p.Units {
		u := &p.Units[i]
		page.Settings = append(page.Settings, report.Explained{Meaning: f.units[i].config,
			Name: fmt.Sprintf("All settings of %s, for %s", u.Title, names(u.parts))})
	}
	return page, nil
}

func (p *Plan) lead() []string {
	if p.Settings.real() {
		return []string{"The paper's protocol on the paper's data. Published figures are below ours. Each of them " +
			"comes from one run."}
	}
	lines := []string{"The paper's protocol in miniature, on generated pictures and clips. Compare its figures with " +
		"each other, and not with the paper's figures, which are about photographs and videos."}
	if p.Settings.Size == Smoke {
		lines = append(lines, "The size smoke only shows that everything runs. Its figures mean nothing.")
	}
	return lines
}

func (p *Plan) facts(f *found, verdicts []claims.Verdict) []report.Explained {
	build := run.ThisBuild()
	program := "nmn " + build.Version
	if build.Revision != "" {
		program += ", revision " + build.Revision
	}
	facts := []report.Explained{{Name: "size", Meaning: string(p.Settings.Size)},
		{Name: "seeds", Meaning: seedsText(p.Settings.Seeds)}}
	if p.Settings.real() {
		facts[0] = report.Explained{Name: "protocol", Meaning: "the paper's"}
		init := cmp.Or(p.Settings.Init,
			"none: nets start at random, and will be worse than the paper's, which start from ImageNet")
		facts = append(facts, report.Explained{Name: "weights", Meaning: init})
	}
	facts = append(facts, report.Explained{Name: "program", Meaning: fmt.Sprintf("%s, %s, %s, %s", program, build.Go,
		build.Platform, build.SIMD)})
	for i := range p.Units {
		if of := unitText(&p.Units[i], &f.units[i]); of != "" {
			if n := f.units[i].missing; n > 0 {
				of += fmt.Sprintf("; not complete: %d", n)
			}
			facts = append(facts, report.Explained{Name: names(p.Units[i].parts), Meaning: p.Units[i].Data + ", " + of})
		}
	}
	counts := map[claims.Outcome]int{}
	for _, v := range verdicts {
		counts[v.Outcome]++
	}
	facts = append(facts, report.Explained{Name: "verdicts", Meaning: fmt.Sprintf("%d confirmed, %d not confirmed, %d "+
		"not tested well enough", counts[claims.Confirmed], counts[claims.NotConfirmed], counts[claims.NotTested])},
		report.Explained{Name: "choices", Meaning: "Test data choose no epoch, rate or threshold. Nets are taken after " +
			"their last step, and captioners at their best CIDEr-D on clips outside the test set."})
	return facts
}

// unitText describes the training data of a unit, in a line.
func unitText(u *Unit, f *foundUnit) string {
	if e := u.Captions; e != nil && e.Videos != nil {
		return fmt.Sprintf("the concepts of all frames by the nets with MIL of %s; %.4g %% of the training clips end a "+
			"captioner's training", Table3, 100*e.Captioner.Data.ValidationShare)
	} else if e != nil {
		return fmt.Sprintf("%d clips of %d frames to learn from, %d to end a captioner's training, %d to score; %s",
			e.Nets.Data.TrainSize, e.Nets.Data.Frames, e.Nets.Data.ValidationSize, e.Nets.Data.TestSize,
			epochsText(e.Nets.Train.Stage1Epochs, e.Nets.Train.Stage2Epochs))
	}
	c := &u.Grid.Config
	var sets []string
	for _, d := range f.digests {
		sets = append(sets, fmt.Sprintf("%s of %d", d.Split, d.Bags))
	}
	titles := make([]string, len(u.Grid.Arms))
	for i, a := range u.Grid.Arms {
		titles[i] = a.Title(false)
	}
	var levels []string
	for _, l := range u.Grid.ReplaceCaptions {
		levels = append(levels, fmt.Sprintf("%.4g", 100*l))
	}
	return fmt.Sprintf("%s; %s at %s %% replaced captions (MIL %s), %s", strings.Join(sets, ", "),
		strings.Join(titles, ", "), strings.Join(levels, ", "), u.Grid.MIL,
		epochsText(c.Train.Stage1Epochs, c.Train.Stage2Epochs))
}

func epochsText(first, second int) string { return fmt.Sprintf("%d + %d epochs", first, second) }

func (p *Plan) rerun() []string {
	s := &p.Settings
	line := fmt.Sprintf("nmn reproduce `reproduce.size` %s `reproduce.seeds` %s", s.Size,
		strings.ReplaceAll(seedsText(s.Seeds), " ", ""))
	for _, of := range []struct{ key, value string }{{"coco", s.COCO}, {"msrvtt", s.MSRVTT}, {"init", s.Init}} {
		if of.value != "" {
			line += fmt.Sprintf(" `reproduce.%s` %s", of.key, of.value)
		}
	}
	if s.EstimatedStart {
		line += " `reproduce.estimated_start`"
	}
	var only []Part
	for _, part := range p.Parts {
		only = append(only, part.Name)
	}
	if len(only) < len(Parts()) {
		line += " `reproduce.only` " + strings.ReplaceAll(names(only), " ", "")
	}
	return []string{p.renamed(line), RecordFile + " next to this page has all settings, versions, seeds, digests of " +
		"data, and every figure. On one kind of processor, one program always writes equal bytes."}
}

func (p *Plan) show(ctx context.Context, o *Options, f *found, part *PlannedPart) (*report.ReproducedPart, error) {
	out := &report.ReproducedPart{ID: string(part.Name), Title: part.Title, Skip: part.Skip}
	if part.Skip != "" {
		out.Skip = p.renamed(part.Skip)
		return out, nil
	}
	switch part.Name {
	case Table1, Table2, Table3:
		return out, p.showDetection(f, part, out)
	case Table4:
		p.showCaptions(f, out)
	case Figure3:
		out.Figure3 = true
		out.Notes = []string{fmt.Sprintf("Drawn on the page from the closed form, without data. Both rates are %g.",
			report.Figure3Rate)}
	case Figure4:
		return out, p.showPictures(ctx, o, f, out)
	case Observed:
		table, err := report.ObservedTable(p.ofPart(f, part))
		out.Tables = []*report.Table{table}
		return out, err
	case EM, Beyond:
		return out, p.showArms(f, part, out)
	}
	return out, nil
}

func (p *Plan) renamed(text string) string {
	if p.Rename == nil {
		return text
	}
	return p.Rename(text)
}

func (p *Plan) ofPart(f *found, part *PlannedPart) (all []report.Run) {
	for u, r := range p.runs(f) {
		if u.Data == part.Data && slices.ContainsFunc(part.Name.needs(), func(n need) bool {
			return slices.Contains(n.levels, r.Noise) && slices.Contains(n.arms, recipe.Name(r.Arm)) &&
				(r.MIL && n.mil != "off" || !r.MIL && n.mil != "on") && strings.HasSuffix(u.Folder, "-estimated") == n.estimated
		}) {
			all = append(all, *r)
		}
	}
	return all
}

func (p *Plan) showDetection(f *found, part *PlannedPart, out *report.ReproducedPart) error {
	number := map[Part]int{Table1: 1, Table2: 2, Table3: 3}[part.Name]
	runs := p.ofPart(f, part)
	table, err := report.PaperLayout(number, runs)
	if err != nil {
		return err
	}
	out.Tables = []*report.Table{table}
	if number == 2 {
		first := PlannedPart{Name: Table1, Data: part.Data}
		out.Levels = append(p.ofPart(f, &first), runs...)
	}
	if !slices.ContainsFunc(runs, func(r report.Run) bool { return r.PaperData }) {
		published, err := report.PublishedLayout(number)
		if err != nil {
			return err
		}
		out.Apart = []*report.Table{published}
	}
	if start := startNote(runs); start != "" {
		out.Notes = append(out.Notes, start)
	}
	return nil
}

// startNote describes how noise models start on generated data.
func startNote(runs []report.Run) string {
	madeUp := func(r report.Run) bool { return r.Dataset == claims.Scenes || r.Dataset == claims.MovingScenes }
	if !slices.ContainsFunc(runs, madeUp) {
		return ""
	}
	return "At every level, noise models start near the mean rates at 40 % replaced captions. This uses prior " +
		"knowledge of " +
		"the data, unlike the paper's start, a flip of .036. It is a setting of the preset, and was not chosen for this page."
}

func (p *Plan) showCaptions(f *found, out *report.ReproducedPart) {
	for i := range f.units {
		c := f.units[i].captions
		if c == nil {
			continue
		}
		table := report.Table4(c.Title, c.Rows)
		table.Notes = append(table.Notes, fmt.Sprintf("CIDEr-D, BLEU-4, ROUGE-L and METEOR (1.5, modules %s) times 100; "+
			"mean ± standard deviation over seeds. Nets with MIL, at %.4g %% replaced captions.", c.Modules,
			100*p.Units[i].noise()))
		out.Tables = append(out.Tables, table)
	}
	if p.Settings.real() {
		out.Tables = append(out.Tables, report.PublishedTable4())
	} else {
		out.Apart = []*report.Table{report.PublishedTable4()}
	}
}

// showArms compares arms in all main measures, and with the baseline seed by seed.
func (p *Plan) showArms(f *found, part *PlannedPart, out *report.ReproducedPart) error {
	runs := p.ofPart(f, part)
	table, err := report.ExperimentTable(runs)
	if err != nil {
		return err
	}
	out.Tables = []*report.Table{table.Summary()}
	isBaseline := func(r report.Run) bool { return r.Arm == string(recipe.Baseline) }
	if len(p.Settings.Seeds) > 1 && slices.ContainsFunc(runs, isBaseline) {
		paired, err := report.PairedTable(runs, string(recipe.Baseline))
		if err != nil {
			return err
		}
		out.Tables = append(out.Tables, paired.Summary())
	}
	if part.Name == EM {
		out.Tables = append(out.Tables, p.emTables(f)...)
		out.Notes = append(out.Notes, "Each epoch of EM's second stage is a round. The classifier learns (M-step) the "+
			"posteriors of all labels (E-step), with the rates of the expected counts. All arms learn for equal numbers of "+
			"epochs. The paper proves that both optimise one function, and gives no figures.")
	}
	return nil
}

// showPictures shows the predictions of arms for the same pictures: the arms with MIL, at 40 % of replaced
// captions, with the first seed.
func (p *Plan) showPictures(ctx context.Context, o *Options, f *found, out *report.ReproducedPart) error {
	runs := p.ofPart(f, &PlannedPart{Name: Figure4, Data: p.part(Figure4).Data})
	var beside runpage.SideBySide
	for i := range runs {
		if runs[i].Seed != p.Settings.Seeds[0] {
			continue
		}
		s, err := run.ReadShown(runs[i].Name)
		if err != nil {
			return err
		}
		beside.Add(&runs[i], s)
	}
	unit := slices.IndexFunc(p.Units, func(u Unit) bool { return slices.Contains(u.parts, Figure4) })
	s, err := run.Open(ctx, p.Units[unit].Grid.Config, run.Options{Log: o.Log})
	if err != nil {
		return err
	}
	set, _ := s.Data.EvaluationSplit()
	out.Compared = []report.Comparison{beside.Comparison(
		fmt.Sprintf("Predictions of the arms with MIL, seed %d", p.Settings.Seeds[0]), runpage.NewPictures(ctx, set))}
	for i := range out.Compared[0].Arms { // the figure has no curves
		out.Compared[0].Arms[i].Curves = eval.ByGroup[[]eval.CurvePoint]{}
	}
	out.Notes = []string{"64 pictures are drawn by their names alone, before anything is scored. The page shows the " +
		"pictures on which the arms differ most. None was picked by hand."}
	return cmp.Or(ctx.Err(), s.Close())
}
