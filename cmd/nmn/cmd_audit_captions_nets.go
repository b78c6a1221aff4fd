package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/run"
	"nmn/run/document"
	"nmn/text"
)

type captionNets struct {
	train   bool
	sources sources
	runDir  string
}

// Settings of features with captions.
const (
	captionFeatures = "data.features.train.features"
	captionFile     = "data.features.train.captions"
)

func (n *captionNets) flags(r group) {
	n.sources, n.runDir = newSources(), filepath.Join("runs", "captions")
	r.bool(&n.train, "train", "train small nets that score the pictures of --images")
	n.sources.add(r, "backbone")
	n.sources.flag(r, "features", captionFeatures)
	r.directory(&n.runDir, "run-dir", "train the nets in this `folder`")
	setFlags(r, &n.sources.settings)
}

// gives reports whether the flags give a setting.
func (n *captionNets) gives(key string) bool {
	return slices.ContainsFunc(n.sources.given, func(one *document.Setting) bool { return one.Key == key })
}

// wanted reports whether the flags ask for nets.
func (n *captionNets) wanted() bool {
	return n.train || n.gives("net.backbone") || n.gives(captionFeatures)
}

// settings adds settings for the nets: defaults below what the user has set, and the flags of the audit above. data is
// the argument for which nmn train finds the rest.
func (a *auditCaptions) settings(s *sources) (data []string, err error) {
	n := &a.nets
	defaults := [][2]string{{"data.validation_share", "0"}, {"data.test_share", "0"}}
	set := [][2]string{{"arm", string(recipe.CaptionFilter)}}
	switch {
	case n.gives(captionFeatures):
		set = append(set, [2]string{"data.set", string(dataset.Features)}, [2]string{captionFile, a.captions})
	case a.page.images != "" && a.page.images != a.captions:
		set = append(set, [2]string{"data.images", a.page.images})
		fallthrough
	default:
		data = []string{a.captions}
	}
	if !n.gives(captionFeatures) && !n.gives("net.backbone") {
		defaults = append(defaults, [2]string{"noise_rates", recipe.FoldsOf + "2"})
		if !n.gives("net.arch") && !n.gives("net.weights") {
			s.preset, defaults = run.ScenesPreset, append(defaults, [2]string{"data.noise", "0"})
		}
	}
	if a.vocabulary != "" {
		set = append(set, [2]string{"data.vocabulary", a.vocabulary})
	}
	if words := a.options.Words; words > 0 {
		set = append(set, [2]string{"data.vocabulary_size", strconv.Itoa(words)})
	}
	user := s.given
	s.given = nil
	for _, d := range defaults {
		s.given = append(s.given, document.TextSetting(d[0], d[1], false))
	}
	for _, one := range user {
		err = cmp.Or(err, s.take(one))
	}
	for _, d := range set {
		err = cmp.Or(err, s.take(document.TextSetting(d[0], d[1], false)))
	}
	return data, err
}

// score trains nets that score the pictures of the captions, or goes on with them, and has the audit read the scores.
func (a *auditCaptions) score(ctx context.Context, p *program) (err error) {
	t := trainCommand{program: p, sources: a.nets.sources, runDir: a.nets.runDir, metrics: newMetricsOptions(p)}
	data, err := a.settings(&t.sources)
	if err == nil {
		err = t.resolve(ctx, data)
	}
	if err != nil {
		return err
	}
	settings := t.config.Settings()
	if settings.Folds() == 0 {
		return usagef("audit captions: noise_rates is %s, and scores of captions come from nets of folds, such as folds:2",
			settings.NoiseRates)
	}
	s, err := openWatched(ctx, p, t.config, t.metrics, keepsFeatures(p, t.runDir))
	if err != nil {
		return err
	}
	defer func() { err = s.end(err) }()
	if _, err := s.Prepare(ctx); err != nil {
		return err
	}
	longest, err := s.CaptionScoresTime(ctx, t.runDir)
	if err != nil {
		return err
	}
	if longest > 0 {
		p.message(run.Message{Topic: "nets", Text: fmt.Sprintf("each of %s learns the captions of the others and scores "+
			"its own pictures: at most about %s", text.Count(settings.Folds(), "folds"), brief(max(longest, time.Second)))})
	}
	a.options.Logits = true
	a.options.Scores, err = s.CaptionScores(ctx, t.runDir)
	return goesOn(err, false)
}
