package main

import (
	"log/slog"
	"maps"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/internal/setting"
	"nmn/loader/doctor"
	"nmn/run"
)

// otherNames are the flags of settings that packages name in messages and that no configuration file has, or that
// several commands declare each for itself.
var otherNames = map[string]string{
	"arm": "--arm", "stage1": "--stage1", "run_dir": "--run-dir", "resume": "--resume", "net.mil": "--mil",
	"captions.captions":         "--captions",
	"captions.features":         "--features",
	"captions.generate_batch":   "--generate-batch",
	"captions.max_words":        "--max-words",
	"captions.min_count":        "--min-count",
	"captions.threads":          "--threads",
	"captions.val_captions":     "--val-captions",
	"captions.val_clips":        "--val-clips",
	"captions.val_features":     "--val-features",
	"captions.val_ids":          "--val-ids",
	"captions.validation_share": "--validation-share",
	"captions.vocab_size":       "--vocab-size",
	"doctor.json":               "--json",
	"experiment.arms":           "--arms",
	"experiment.flips":          "--flips",
	"experiment.noise_rates":    "--noise-rates",
	"experiment.partial":        "--partial",
	"experiment.reference":      "--reference",
	"experiment.seeds":          "--seeds",
	"experiment.task":           "--task",
	"reproduce.coco":            "--coco",
	"reproduce.init":            "--init",
	"reproduce.msrvtt":          "--msrvtt",
	"reproduce.only":            "--only",
	"reproduce.seeds":           "--seeds",
	"reproduce.size":            "--size",
	"table4.captions":           "--captions",
	"table4.captions_per_clip":  "--captions-per-clip",
	"table4.features":           "--features",
	"table4.seeds":              "--seeds",
	"table4.test_size":          "--test-size",
	"table4.validation_size":    "--validation-size",
	"annotators.by_label":       "--by-label",
	"annotators.scores":         "--scores",
	"audit.apply":               "--apply",
	"audit.calibrate":           "--calibrate",
	"audit.decisions":           "--decisions",
	"audit.distance":            "--distance",
	"audit.near":                "--near",
	"audit.neighbours":          "--neighbours",
	"audit.neighbours_limit":    "--neighbours-limit",
	"audit.output":              "--output",
	"audit.page":                "--page",
	"audit.precision":           "--precision",
	"audit.rows":                "--rows",
	"audit.vocabulary":          "--vocab",
	"captions.captions_recipe":  "--captions-recipe",
	"captions.clips":            "--clips",
	"captions.fewer_frames":     "--fewer-frames",
	"captions.ids":              "--ids",
	"captions.partial":          "--partial",
	"doctor.sample":             "--sample",
	"metrics.push":              "--metrics-push",
	"predict.threshold":         "--threshold",
	"predict.top":               "--top",
	"predict.format":            "--format",
	"extract.shard":             "nmn extract --shard",
	"extract.output_truth":      "--output-truth",
	"extract.layer":             "--layer",
	"extract.per_frame":         "--per-frame",
	"extract.output_clips":      "nmn extract --output-clips",
	"features.output":           "nmn features FILE --output",
	"frames.clip_timeout":       "--clip-timeout",
	"frames.ffmpeg":             "--ffmpeg",
	"frames.max_bad_clips":      "--max-bad-clips",
	"frames.max_pixels":         "--max-pixels",
	"frames.resume":             "--resume",
	"frames.size":               "--size",
	"rates.output":              "nmn rates --output",
	"scores.logits":             "--logits",
	"shard.rebuild_index":       "nmn frames --rebuild-index",
	"shard.resume":              "nmn frames --resume",

	"train.augment":                         "--augment",
	"train.augment.color_jitter.brightness": "--color-jitter",
	"train.augment.color_jitter.contrast":   "--color-jitter",
	"train.augment.color_jitter.saturation": "--color-jitter",
	"train.augment.color_jitter.hue":        "--color-jitter",
	"train.augment.rand_augment.operations": "--rand-augment",
	"train.augment.rand_augment.magnitude":  "--rand-augment",
}

// namesOfSettings maps the keys of all settings to the flags that set them.
var namesOfSettings = sync.OnceValue(func() map[string]string {
	c, cmd := run.DefaultConfig(), &cobra.Command{}
	dataFlags(cmd, &c)
	featureDataFlags(cmd, &c, true)
	netFlags(cmd, &c)
	trainFlags(cmd, &c)
	runFlags(cmd, &c.Run)
	names := maps.Clone(otherNames)
	for key, flag := range flagNames(cmd.Flags(), &c) {
		names[key] = "--" + flag
	}
	return names
})

// flagNames maps the keys of settings to the flags that set them.
func flagNames(flags *pflag.FlagSet, config any) map[string]string {
	names, keys := map[string]string{}, setting.KeysOf(config)
	flags.VisitAll(func(f *pflag.Flag) {
		key := flagKey(f, keys)
		if r, ok := f.Value.(*recorded); ok && key != "" && !r.alias {
			names[key] = f.Name
		}
	})
	return names
}

// withFlags is a message of a package with the names of flags for those of settings. Most messages name none, and
// the names take some time to gather.
func withFlags(message string) string {
	if !strings.Contains(message, "`") {
		return message
	}
	return setting.Rename(message, namesOfSettings())
}

// attributesWithFlags is withFlags for what is logged.
func attributesWithFlags(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(withFlags(v))
	case error:
		a.Value = slog.StringValue(withFlags(v.Error()))
	}
	return a
}

// findingsWithFlags is withFlags for findings, in place.
func findingsWithFlags(findings []doctor.Finding) {
	for i := range findings {
		f := &findings[i]
		f.Text, f.Cure = withFlags(f.Text), withFlags(f.Cure)
		for e := range f.Examples {
			f.Examples[e] = withFlags(f.Examples[e])
		}
	}
}
