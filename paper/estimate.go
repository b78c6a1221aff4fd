package paper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"nmn/eval"
	"nmn/experiment"
	"nmn/loader/annotation"
	"nmn/loader/dataset"
	"nmn/paper/claims"
	"nmn/paper/table4"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	"nmn/text"
)

// Estimate is the cost of a reproduction, before it starts.
type Estimate struct {
	Units   []UnitEstimate
	Time    time.Duration   // of what is not complete yet
	Disk    int64           // bytes that its folder has at the end
	Results []claims.Result // of complete runs, whose seeds the claims need
	How     string          // a sentence about the origin of the times
}

// UnitEstimate is the cost of a unit.
type UnitEstimate struct {
	Title    string
	Parts    []Part
	Reads    []string // files and folders; nil for none
	Tasks    int      // runs
	Complete int      // of them
	Time     time.Duration
	Disk     int64
	whole    time.Duration // were none of them complete
}

// Measured times of steps (docs/background/benchmarks.md, two cores of an AMD EPYC with AVX-512): VGG16 on a picture of
// 224 pixels in batches of four, VGG16 on a picture of 565 pixels and its forward pass, the captioner in batches of 32
// captions, and the net for scenes on 32 pictures. The last one compares this machine with that one.
const (
	step224    = 588 * time.Millisecond / 4
	forward224 = 130 * time.Millisecond / 4
	step565    = 1029 * time.Millisecond
	forward565 = 276 * time.Millisecond
	stepScenes = 9090 * time.Microsecond
	stepS2VT   = 282 * time.Millisecond / 32 // of the paper's captioner, for a caption
	// captionFrame is the time of Table 4 on moving scenes for each frame and epoch of its nets, captioners among it.
	captionFrame = 700 * time.Microsecond
)

// Bytes that a run leaves: the checkpoints of its last and of its best step, with the optimizer's state, and its pages.
const (
	sceneRun   = 14 << 20
	vggRun     = 4 * 138 << 20 * 2 * 2
	captionRun = 60 << 20 // of a seed of Table 4 on moving scenes
	// paperCaptioner are the three checkpoints of the paper's captioner, of 33 million parameters with their momentum.
	paperCaptioner = 3 * 2 * 4 * 33_000_000
)

// Sizes of the paper's data.
const (
	cocoTrain, cocoJudged     = 82_783, 20_252
	msrvttTrain, msrvttJudged = 6_513, 497
	msrvttFrames              = 26
	msrvttClips               = msrvttTrain + msrvttJudged
)

// Estimate estimates how long the plan takes on this machine and how much it writes. It trains a few steps on
// scenes, and writes nothing. It refuses a folder with another reproduction.
func (p *Plan) Estimate(ctx context.Context, o Options) (*Estimate, error) {
	return p.estimate(ctx, &o, false)
}

// estimate is Estimate. With all it also times units that are complete.
func (p *Plan) estimate(ctx context.Context, o *Options, all bool) (*Estimate, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	tasks, err := p.Tasks()
	if err != nil {
		return nil, err
	}
	e := &Estimate{How: "The times were measured now, on this machine."}
	if e.Results, err = p.completeResults(tasks); err != nil {
		return nil, err
	}
	if p.scaled() && p.scale == 0 {
		if p.scale, err = p.speed(ctx, o); err != nil {
			return nil, err
		}
	}
	if p.Settings.real() && len(p.Units) > 0 {
		e.How = fmt.Sprintf("The times come from docs/background/benchmarks.md, on two cores, multiplied by %.2g. That is "+
			"the measured ratio for a step on scenes. A graphics card gains more on large nets than on scenes: a dry run "+
			"measures it.", p.scale)
	}
	for i := range p.Units {
		u := &p.Units[i]
		one := UnitEstimate{Title: u.Title, Parts: u.parts, Reads: p.reads(u)}
		for _, t := range tasks {
			if t.unit == i {
				one.Tasks++
				if t.Complete {
					one.Complete++
				}
			}
		}
		if one.Tasks > one.Complete || all {
			whole, runs, err := p.unitTime(ctx, o, u)
			if err != nil {
				return nil, err
			}
			one.Time, one.whole = share(whole, one.Tasks-one.Complete, runs), share(whole, one.Tasks, runs)
		}
		one.Disk = p.disk(u, one.Tasks)
		e.Units, e.Time, e.Disk = append(e.Units, one), e.Time+one.Time, e.Disk+one.Disk
	}
	return e, nil
}

// share is how long some tasks of a unit take. All runs of its grid take whole; some of them may be tasks of other
// units.
func share(whole time.Duration, tasks, runs int) time.Duration {
	return time.Duration(float64(whole) * float64(tasks) / float64(runs))
}

// scaled reports whether the times of some units come from another machine.
func (p *Plan) scaled() bool {
	return slices.ContainsFunc(p.Units, func(u Unit) bool { return u.Captions != nil || p.Settings.real() })
}

func (p *Plan) disk(u *Unit, tasks int) int64 {
	switch {
	case u.Captions != nil && u.Captions.Videos != nil: // half of the tasks are concepts, half captioners
		return int64(tasks/2) * (4*msrvttClips*msrvttFrames*dataset.MSRVTTWords + paperCaptioner)
	case u.Captions != nil:
		return int64(len(p.Settings.Seeds)) * captionRun
	case p.Settings.real():
		return int64(tasks) * vggRun
	}
	return int64(tasks) * sceneRun
}

// unitTime is how long all tasks of a unit take, were none complete, and how many these are.
func (p *Plan) unitTime(ctx context.Context, o *Options, u *Unit) (time.Duration, int, error) {
	if e := u.Captions; e != nil && e.Videos != nil {
		nets := len(table4.Arms()) * len(e.Seeds)
		captions := (1 - e.Captioner.Data.ValidationShare) * msrvttTrain * annotation.MSRVTTCaptions
		one := msrvttClips*msrvttFrames*forward565 +
			time.Duration(captions*float64(e.Captioner.Train.Epochs)*float64(stepS2VT))
		return time.Duration(p.scale * float64(nets) * float64(one)), len(e.Pieces()), nil
	} else if e != nil {
		t := &e.Nets.Train
		frames := e.Nets.Data.TrainSize * e.Nets.Data.Frames * (t.Stage1Epochs + 3*t.Stage2Epochs) * len(e.Seeds)
		return time.Duration(p.scale * float64(frames) * float64(captionFrame)), 1, nil
	}
	tasks, err := u.Grid.Tasks()
	if err != nil {
		return 0, 0, err
	}
	if p.Settings.real() {
		return time.Duration(p.scale * float64(realTime(u, tasks))), len(tasks), nil
	}
	seeds := time.Duration(len(u.Grid.Seeds))
	if u.seedTime == 0 {
		s, err := run.Open(ctx, u.Grid.Config, run.Options{Log: o.Log})
		if err != nil {
			return 0, 0, err
		}
		whole, err := u.Grid.Estimate(ctx, s)
		if err := cmp.Or(err, s.Close()); err != nil {
			return 0, 0, err
		}
		u.seedTime = whole / seeds
	}
	return seeds * u.seedTime, len(tasks), nil
}

// realTime is how long tasks on the paper's data take on the machine of the known times.
func realTime(u *Unit, tasks []experiment.Task) (whole time.Duration) {
	train, judged, frames := cocoTrain, cocoJudged, 1
	if u.Data == claims.MSRVTT {
		train, judged, frames = msrvttTrain, msrvttJudged, msrvttFrames
	}
	t := &u.Grid.Config.Train
	for i := range tasks {
		epochs := t.Stage1Epochs
		if arm, _ := tasks[i].Arm.Arm(); arm.Stage == 2 {
			epochs = t.Stage2Epochs
		}
		step, forward := step224, forward224
		if tasks[i].MIL {
			step, forward = step565, forward565
		}
		whole += time.Duration(frames*train*epochs)*step + time.Duration(frames*judged*(epochs+1))*forward
	}
	return whole
}

// speed times steps on scenes, and returns how much longer they take here than on the machine of the known times.
func (p *Plan) speed(ctx context.Context, o *Options) (scale float64, err error) {
	small := Defaults(p.Settings.Dir)
	small.Run = p.Settings.Run
	c := small.pictures()
	c.Data.TrainSize, c.Data.TestSize, c.Net.MIL, c.Train.EvaluateEpochs = 256, 8, true, 0
	s, err := run.Open(ctx, c, run.Options{Log: o.Log})
	if err != nil {
		return 0, err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	with, err := s.With(ctx, c)
	if err != nil {
		return 0, err
	}
	arm, err := recipe.FD.ForTraining(true)
	if err != nil {
		return 0, err
	}
	m, err := run.NewEstimator(with).Measure(ctx, arm)
	if err != nil {
		return 0, err
	}
	return slower(&m), nil
}

// slower is how much longer a picture takes in a step on scenes than on the machine of the known times.
func slower(m *run.Measured) float64 {
	return m.Step.Seconds() / float64(max(m.Bags, 1)) / (stepScenes.Seconds() / 32)
}

// reads are the files and folders that a unit reads.
func (p *Plan) reads(u *Unit) (all []string) {
	g := u.Grid
	if u.Captions != nil {
		g = u.Captions.Videos
	}
	if g == nil {
		return nil
	}
	d := &g.Config.Data
	for _, path := range []string{d.Captions, d.Images, d.ValCaptions, d.ValImages, d.Vocabulary, d.MSRVTT, d.FramesDir,
		g.Config.Net.Weights} {
		if path != "" {
			all = append(all, path)
		}
	}
	return all
}

// Tables returns the plan with an estimate: the parts, the training for them, and the seeds that the claims need.
func (p *Plan) Tables(e *Estimate) []*report.Table {
	parts := &report.Table{Title: "Parts", Columns: report.TextColumns("part", "what", "data", "plan")}
	for _, part := range p.Parts {
		plan := "made"
		if part.Skip != "" {
			plan = "skipped, see below"
			note := fmt.Sprintf("Skipped on %s: %s.", part.Data, p.renamed(part.Skip))
			if !slices.Contains(parts.Notes, note) {
				parts.Notes = append(parts.Notes, note)
			}
		}
		parts.AddRow(report.TextCell(string(part.Name)), report.TextCell(part.Title),
			report.TextCell(cmp.Or(part.Data, "none")), report.TextCell(plan))
	}
	units := &report.Table{Title: "What is trained", Columns: slices.Concat(report.TextColumns("what", "for"),
		report.NumberColumns(0, "runs", "complete"), report.NumberColumns(2, "hours", "GB"))}
	number := func(v float64) report.Cell { return report.NumberCell(eval.Number(v)) }
	for _, u := range e.Units {
		units.AddRow(report.TextCell(u.Title), report.TextCell(names(u.Parts)), number(float64(u.Tasks)),
			number(float64(u.Complete)), number(u.Time.Hours()), number(float64(u.Disk)/1e9))
		note := fmt.Sprintf("%s: reads %s.", u.Title, strings.Join(u.Reads, ", "))
		if len(u.Reads) > 0 && !slices.Contains(units.Notes, note) {
			units.Notes = append(units.Notes, note)
		}
	}
	power := claims.Power(e.Results)
	if power == nil {
		units.Notes = append(units.Notes, fmt.Sprintf("How many seeds the claims need is unknown: no comparison has two "+
			"complete seeds in %s.", p.Settings.Dir))
	}
	units.Notes = append(units.Notes, fmt.Sprintf("About %.4g hours remain for %s. In the end, %.3g GB are in %s. %s "+
		"Nothing was written.", math.Round(100*e.Time.Hours())/100, text.Count(len(p.Settings.Seeds), "seeds"),
		float64(e.Disk)/1e9, p.Settings.Dir, e.How))
	tables := []*report.Table{parts, units}
	if power != nil {
		tables = append(tables, power)
	}
	return tables
}
