package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nmn/recipe"
	"nmn/run"
	"nmn/text"
	"nmn/train"
)

// dryRun opens everything, estimates or measures the time of steps without saving anything, and prints the plan as it
// goes.
func dryRun(ctx context.Context, p *program, s *run.Session) error {
	c := &s.Config
	arms, err := c.PlannedArms()
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "device      %s\n%s\n", s.Backend.Name(), withFlags(s.Data.Describe()))
	for i, line := range c.DescribeChoices() {
		label := ""
		if i == 0 {
			label = "chosen"
		}
		fmt.Fprintf(p.out, "%-11s %s\n", label, line)
	}
	if s.Backbone != nil {
		fmt.Fprintf(p.out, "backbone    %s\n", s.Backbone)
	}
	if s, err = s.With(ctx, *c); err != nil {
		return err
	}
	total := s.FeatureTime
	if total > 0 {
		fmt.Fprintf(p.out, "features    about %v to compute them for all pictures, once\n", total.Round(time.Second))
	}
	estimator := run.NewEstimator(s)
	settings, captions := c.Settings(), s.Data.Train.CaptionsInUse
	planned := []recipe.Name{c.Arm}
	for i, arm := range arms {
		w, err := estimator.Workload(ctx, arm)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.out, "%-11s %.2f M parameters and %d of the noise model, %.2f GFLOP a step of %s\n%s%s", arm.Name,
			float64(w.Parameters)/1e6, w.Noise, w.FLOP/1e9, text.Count(w.Pictures, "pictures"), chunksText(w.Chunks),
			groupsText(w.Groups))
		m, err := estimator.Estimate(ctx, arm, w)
		if err != nil {
			return err
		}
		fmt.Fprint(p.out, measuredText(m, *w))
		total += m.Total()
		if epochs := c.Train.Epochs(arm.Stage); i == 0 && epochs > 0 {
			total += m.Total() / time.Duration(epochs) * time.Duration(settings.ExtraEpochs(planned, captions))
		}
	}
	if line := settings.Cost(planned, captions); line != "" {
		fmt.Fprintf(p.out, "recipe      %s\n", line)
	}
	_, err = fmt.Fprintf(p.out, "in all      about %v, without validation; nothing was written\n",
		total.Round(time.Second))
	return err
}

// groupsText lists the learning rates of the layers from the last layer on, or prints one line if all are equal.
func groupsText(groups []train.Group) string {
	same, width, layers := true, 20, map[string]bool{}
	for _, g := range groups {
		same = same && g.LearningRate == groups[0].LearningRate
		width, layers[g.Layer] = max(width, len(g.Layer)), true
	}
	if same {
		return fmt.Sprintf("            learning rate %.3g in all %s\n", groups[0].LearningRate,
			text.Count(len(layers), "layers"))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "            %-*s %-12s %10s %11s %9s\n", width, "layer", "parameters", "multiplier", "rate", "decay")
	for _, g := range slices.Backward(groups) {
		rate := fmt.Sprintf("%.3g", g.LearningRate)
		if g.Multiplier == 0 {
			rate = "frozen"
		}
		fmt.Fprintf(&b, "            %-*s %-12s %10.3g %11s %9.3g\n", width, g.Layer, strings.Join(g.Parameters, ", "),
			g.Multiplier, rate, g.Decay)
	}
	return b.String()
}

// measuredText describes the timed steps of a workload. The speed counts the images in the steps.
func measuredText(m run.Measured, w run.Workload) string {
	speed := float64(m.Images) / m.Step.Seconds()
	line := fmt.Sprintf("            %s, %s of %.1f ms (%.3g images/s, %.1f GFLOP/s): about %v\n",
		m.Needs(), text.Count(m.Steps, "steps"), m.Step.Seconds()*1e3, speed,
		w.FLOP/float64(w.Pictures)*speed/1e9, m.Total().Round(time.Second))
	if m.Estimated {
		return line + "            estimated from operations and the time of one picture, without a step\n"
	}
	if !m.Full() {
		line += fmt.Sprintf("            the data have no full batch of %d: steps of at most %d were timed\n", m.Batch,
			m.Bags)
	}
	return line
}

// chunksText returns a line with the memory of maps and gradients of clips, whole and in chunks of frames.
func chunksText(all []run.Chunk) string {
	if len(all) == 0 {
		return ""
	}
	mib := func(c run.Chunk) float64 { return float64(c.Bytes) / (1 << 20) }
	line := fmt.Sprintf("            maps of %s: %.0f MiB", text.Count(all[0].Frames, "frames"), mib(all[0]))
	for _, c := range all[1:] {
		line += fmt.Sprintf(", with train.chunk_frames %d %.0f MiB", c.Frames, mib(c))
	}
	return line + "\n"
}
