package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/paper"
	"nmn/report"
	"nmn/run"
)

type reproduceCommand struct {
	paper.Settings
	within time.Duration // for as many seeds as fit; 0 for the seeds of the settings
	jobs   jobFlags
	dryRun bool
	asJSON bool
}

// fittedSeeds is a list of seeds, or auto:TIME for as many as fit into a time.
type fittedSeeds struct {
	list[uint64]
	within *time.Duration
}

func (f fittedSeeds) Set(s string) (err error) {
	text, fitted := strings.CutPrefix(s, "auto:")
	if *f.within = 0; !fitted {
		return f.list.Set(s)
	}
	if *f.within, err = time.ParseDuration(text); err != nil || *f.within <= 0 {
		return fmt.Errorf("want a time above 0 after auto:, such as auto:8h or auto:90m")
	}
	return nil
}

func newReproduce(p *program) *cobra.Command {
	r := reproduceCommand{Settings: paper.Defaults("reproduction")}
	cmd := &cobra.Command{
		Use:   "reproduce",
		Short: "Reproduce the paper's tables and figures, and check its claims",
		Long: `Reproduce the tables and figures of the paper, and check each of its claims over several seeds.
Without data it runs in miniature on scenes; --coco, --msrvtt and --init give the paper's data.`,
		Annotations: details(`It makes Tables 1 to 4, Figures 3 and 4, the observed distribution and the comparison with EM in
the paper's layout, with the spread over seeds and paired tests. The folder gets index.html,
reproduction.md to quote, and reproduction.json with all settings, versions, seeds and digests
of data. With the paper's data it trains all arms with 0 to 80 % of captions replaced, and skips
parts whose data are missing.

--size quick takes within half an hour on two cores, full a night, and smoke seconds, with
figures that mean nothing. Complete runs are kept, so the same command continues an interrupted
reproduction. --dry-run estimates hours, gigabytes and the seeds that claims need. --seeds auto:8h
takes as many as its estimate fits into 8 hours, at least the three that verdicts need. A folder
keeps its seeds. For a job array, use --tasks, --task and --collect as with nmn experiment. See
docs/guide/reproduce.md.`),
		Example: `  nmn reproduce --dry-run
  nmn reproduce --only table1,figure3
  nmn reproduce --coco coco --msrvtt msrvtt --init vgg16.pth --device cuda --dry-run`,
		Args: refuseArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd, p) },
	}
	g := under(cmd, "Reproduction")
	enum(g, &r.Size, "size", "run at this `size` without data", paper.Sizes()...)
	some(g, &r.Only, "only", "make only these `parts`, as part,...: "+setting.Alternatives(paper.Parts()),
		paper.Parts()...)
	g.value(fittedSeeds{numberList(&r.Seeds, parseSeed), &r.within}, "seeds",
		"repeat for these `seeds`, as n,..., or for as many as fit into a time, as auto:8h")
	g.bool(&r.EstimatedStart, "estimated-start", "start noise models at rates that are estimated from the noisy labels")
	g.directory(&r.Dir, "run-dir", "write the page and all runs to this `folder`")
	g.bool(&r.dryRun, "dry-run", "list the parts, estimate hours and gigabytes, and stop")
	d := under(cmd, "Data of the paper")
	d.directory(&r.COCO, "coco", "read COCO 2014 from this `folder`")
	d.directory(&r.MSRVTT, "msrvtt", "read MSR-VTT from this `folder`")
	d.file(&r.Init, "init", "start from this `file` of VGG16 weights", "pth", "safetensors")
	r.jobs.declare(cmd)
	res := under(cmd, "Run")
	deviceFlags(res, &r.Run.Device, &r.Run.Threads)
	precisionFlag(res, &r.Run)
	res.int(&r.Run.Workers, "workers", "load pictures with this many `goroutines`")
	under(cmd, "Output").bool(&r.asJSON, "json", "print the plan, the tasks or reproduction.json as JSON")
	return cmd
}

func (r *reproduceCommand) run(cmd *cobra.Command, p *program) error {
	ctx := cmd.Context()
	if err := r.jobs.resolve(cmd); err != nil {
		return err
	}
	if r.dryRun && r.jobs.wanted() {
		return usagef("reproduce: give one of --dry-run, --tasks, --task and --collect")
	}
	plan, err := r.plan(ctx, p, cmd.Flags().Changed("seeds"))
	if err != nil {
		return err
	}
	plan.Rename = withFlags
	err = r.work(ctx, p, plan)
	p.status.clear()
	return goesOn(err, false)
}

// plan makes a plan for the seeds that were named, for the seeds of the folder, or for as many as fit.
func (r *reproduceCommand) plan(ctx context.Context, p *program, named bool) (*paper.Plan, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if named && r.within == 0 {
		return paper.New(r.Settings)
	}
	there, err := paper.FolderSeeds(r.Dir)
	switch {
	case err != nil:
		return nil, err
	case there != nil:
		if r.within > 0 || !slices.Equal(there, r.Seeds) {
			p.message(run.Message{Topic: "seeds", Text: fmt.Sprintf("%d, from the folder %s", len(there), r.Dir)})
		}
		r.Seeds = there
	case r.within > 0 && (r.jobs.task || r.jobs.collect):
		return nil, usagef("reproduce: %s has no seeds yet for --seeds auto:%v: call --tasks with it before, or name the "+
			"seeds", r.Dir, r.within)
	case r.within > 0:
		return paper.Fit(ctx, r.Settings, paper.Options{Log: p.log, Notify: p.message}, r.within)
	}
	return paper.New(r.Settings)
}

// work runs, prints parts with hours and gigabytes, lists or collects.
func (r *reproduceCommand) work(ctx context.Context, p *program, plan *paper.Plan) error {
	w := &watch{program: p}
	o := paper.Options{Log: p.log, Observe: w.observer(), Captioning: p.captionObserver(), Notify: p.message,
		Extracted: p.counted("extracted", "pictures")}
	switch {
	case r.dryRun:
		e, err := plan.Estimate(ctx, paper.Options{Log: p.log})
		if err != nil {
			return err
		}
		return report.Write(p.out, r.format(), plan.Tables(e)...)
	case r.jobs.list:
		return r.printTasks(p, plan)
	case r.jobs.task:
		t, reused, err := plan.RunTask(ctx, o, r.jobs.number)
		if err != nil {
			return err
		}
		return p.tellTask(t, t.Folder, reused)
	case r.jobs.collect:
		out, err := plan.Collect(ctx, o, r.jobs.partial)
		if err != nil {
			return err
		}
		return r.show(p, out)
	}
	out, err := plan.Run(ctx, o)
	if err != nil || out == nil {
		return err
	}
	return r.show(p, out)
}

func (r *reproduceCommand) format() report.Format {
	if r.asJSON {
		return report.JSON
	}
	return report.Text
}

// show prints the verdicts and the files to open.
func (r *reproduceCommand) show(p *program, out *paper.Outcome) error {
	if r.asJSON {
		_, err := p.out.Write(out.Record)
		return err
	}
	for _, part := range out.Page.Parts {
		if part.Skip != "" {
			fmt.Fprintf(p.out, "%s: skipped: %s\n", part.ID, visible.Line(part.Skip))
		}
	}
	if err := report.Write(p.out, report.Text, report.Facts("Verdicts", out.Summary())); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "\nReport: %s. To quote: %s. Record: %s.\n", filepath.Join(r.Dir, paper.PageFile),
		filepath.Join(r.Dir, paper.MarkdownFile), filepath.Join(r.Dir, paper.RecordFile))
	return err
}

func (r *reproduceCommand) printTasks(p *program, plan *paper.Plan) error {
	if r.within > 0 { // the tasks have to find the same seeds
		if err := plan.Claim(); err != nil {
			return err
		}
	}
	tasks, err := plan.Tasks()
	if err != nil {
		return err
	}
	var rows []listed
	for _, task := range tasks {
		rows = append(rows, listed{number: task.Number, after: task.After, complete: task.Complete, folder: task.Folder,
			texts: []string{task.What, task.Data}})
	}
	t, complete := tasksTable("Tasks of the reproduction", []report.Column{{Name: "what", Text: true},
		{Name: "data", Text: true}}, rows)
	t.Notes = []string{fmt.Sprintf("%d tasks, 0-%d; %d are complete. A task waits for the task under \"after\", or "+
		"runs it.", len(tasks), max(0, len(tasks)-1), complete)}
	return r.jobs.print(p, len(tasks), tasks, r.format(), t)
}
