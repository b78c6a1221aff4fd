//go:build linux && (amd64 || arm64)

package main

import "strings"

// scenario is a command that writes, with its inputs and its possible faults.
type scenario struct {
	name string
	args string // arguments of nmn, separated by spaces; files are relative to the folder of a trial
	// needs are the inputs, from those that a workshop makes: files or folders.
	needs []string
	// fresh is a folder that must be empty at the beginning. If a message requires it, it is emptied.
	fresh string
	// outputs are single files that replace earlier ones.
	outputs []string
	// runs are folders with checkpoints.
	runs []string
	// data are inputs that a run has learned from: when they change, it must not continue.
	data []string
	// program is another program that the command starts.
	program string
	// appended are files that grow by lines. The last line of an interrupted one may be cut.
	appended []string
}

func (s scenario) command() []string { return strings.Fields(s.args) }

// outlives reports whether a command trains nets and waits when the disk is full.
func (s scenario) outlives() bool {
	return len(s.runs) > 0 || strings.HasPrefix(s.args, "experiment --")
}

// Sizes that make runs of about a second.
const (
	tinyPictures = " --set data.train_size=96 --set data.validation_size=32 --set data.test_size=48 --set net.width=0.5 " +
		"--device cpu --threads 1"
	tinyClips = " --preset moving-scenes --set data.train_size=24 --set data.validation_size=8 --set data.test_size=12 " +
		"--set data.frames=4 --set net.width=0.5 --device cpu --threads 1"
	tinyNet       = " --set net.hidden=[16] --batch-size 8 --device cpu --threads 1"
	tinyCaptioner = " --preset moving-scenes --set net.embedding=8 --set net.words=6 --set net.hidden=12 --batch-size 8" +
		" --set data.validation_share=0.25 --device cpu --threads 1"
	often = " --set train.checkpoint_steps=2 --set train.log_steps=1"
)

// workshop are the commands that make the inputs of all scenarios, in this order.
var workshop = []string{
	"train --arm nmn-fd --set recipe.form=paper --epochs 1 --run-dir model" + tinyPictures,
	"extract model --split train --layer fc7 --output x.npy --output-labels y.csv --output-truth t.csv",
	"train --set data.features.train.features=x.npy --labels y.csv --arm held-rates --noise-rates online --epochs 2 " +
		"--run-dir head" + tinyNet,
	"train --arm baseline --mil --epochs 1 --run-dir video" + tinyClips,
	"scenes pictures --number 40",
	"scenes moving --moving --number 24 --frames 4",
	"scenes spoken --moving --format concepts --number 24 --frames 4",
	"caption train --features spoken/truth.npy --clips spoken/truth.csv --captions spoken/captions.json" +
		" --run-dir speaker --epochs 2" + tinyCaptioner,
	"caption generate speaker --features spoken/truth.npy --clips spoken/truth.csv --output said.json --device cpu",
}

// training is a scenario of nmn train with its run folder.
func training(name, args string, needs, data []string) scenario {
	return scenario{name: name, args: "train " + args + " --run-dir run" + often, needs: needs, data: data,
		runs: []string{"run", "run/stage1"}}
}

func writing(name, args string, needs []string, outputs ...string) scenario {
	return scenario{name: name, args: args, needs: needs, outputs: outputs}
}

var features = []string{"x.npy", "y.csv"}

var scenarios = []scenario{
	training("features-nmn-fd", "--set data.features.train.features=x.npy --labels y.csv --arm nmn-fd --set "+
		"recipe.form=paper --epochs 3 --set each_epoch=true --set train.keep_best=1"+tinyNet, features, features),
	training("features-ema", "--set data.features.train.features=x.npy --labels y.csv --arm nmn-fd --set "+
		"recipe.form=paper --epochs 3 --set train.optimizer=adamw --set train.ema=0.9 --set train.layer_decay=0.8"+tinyNet,
		features, features),
	training("features-online", "--set data.features.train.features=x.npy --labels y.csv --arm held-rates "+
		"--noise-rates online --epochs 3"+tinyNet, features, features),
	training("features-folds", "--set data.features.train.features=x.npy --labels y.csv --noise-rates folds:2 --set "+
		"recipe.fold_epochs=2 --set recipe.epochs=2 --epochs 2"+tinyNet, features, features),
	training("features-tensorboard", "--set data.features.train.features=x.npy --labels y.csv --arm baseline --epochs 2 "+
		"--set run.tensorboard=true"+tinyNet,
		features, features),
	training("scenes", "--arm nmn-fi --set recipe.form=paper --epochs 2 --set each_epoch=true --set train.keep_best=1"+
		tinyPictures, nil, nil),
	training("scenes-caption-filter", "--arm caption-filter --epochs 2 --batch-size 8"+tinyPictures, nil, nil),
	training("pictures", "--preset scenes --set data.captions=pictures/captions_train2014.json --images pictures/images "+
		"--vocab pictures/vocabulary.txt --arm nmn-fd --set recipe.form=paper --epochs 2 --batch-size 8 --set net.width=0.5 "+
		"--device cpu --threads 1", []string{"pictures"}, []string{"pictures/images/*.*g",
		"pictures/captions_train2014.json"}),
	training("backbone", "--set data.captions=pictures/captions_train2014.json --images pictures/images --vocab"+
		" pictures/vocabulary.txt --backbone vgg.safetensors --input-size 64 --arm nmn-fd --set recipe.form=paper --epochs 2"+
		tinyNet, []string{"pictures", "vgg.safetensors"},
		[]string{"pictures/images/*.*g", "pictures/captions_train2014.json", "vgg.safetensors"}),
	training("video-mil", "--arm nmn-fd --set recipe.form=paper --mil --epochs 2 --set train.batch_size_mil=8"+
		tinyClips, nil, nil),
	training("video-clips", "--preset moving-scenes --set data.clips=moving --vocab moving/vocabulary.txt --mil --arm "+
		"baseline --epochs 2 --set train.batch_size_mil=4 --set net.width=0.5 --device cpu --threads 1", []string{"moving"},
		[]string{"moving/labels.jsonl"}),
	{
		name: "caption-train", args: "caption train --features spoken/truth.npy --clips spoken/truth.csv --captions" +
			" spoken/captions.json --run-dir run --epochs 4" + tinyCaptioner + often,
		needs: []string{"spoken"}, data: []string{"spoken/truth.npy", "spoken/captions.json"},
		runs: []string{"run"},
	},
	{
		name: "experiment", args: "experiment --set data.features.train.features=x.npy --labels y.csv --arms " +
			"baseline,nmn-fi --set recipe.form=paper --flips 0.2:0.1 --seeds 1,2 --epochs 1 --run-dir grid" + tinyNet,
		needs: features,
	},
	{
		name: "experiment-task", args: "experiment --set data.features.train.features=x.npy --labels y.csv --arms baseline " +
			"--set recipe.form=paper --flips 0.2:0.1 --epochs 1 --task 0 --run-dir grid" + tinyNet,
		needs: features,
	},
	{
		name: "reproduce", args: "reproduce --size smoke --only table1,figure3 --seeds 1 --device cpu --threads 1 --run-dir" +
			" reproduction",
	},

	{name: "scenes-pictures", args: "scenes out --number 30", fresh: "out"},
	{name: "scenes-shards", args: "scenes out --moving --number 12 --frames 4", fresh: "out",
		appended: []string{"out/index.jsonl"}},
	{name: "scenes-concepts", args: "scenes out --moving --format concepts --number 12 --frames 4", fresh: "out"},
	{
		name: "frames", args: "frames clips --output out --frames 4 --shard-size 0.03 --workers 2",
		needs: []string{"clips"}, program: "ffmpeg", appended: []string{"out/index.jsonl"},
	},

	writing("extract", "extract model --split train --layer fc7,probabilities --output a.npy,b.safetensors"+
		" --output-labels l.csv --output-truth t.csv --output-ids i.txt", []string{"model"},
		"a.npy", "b.safetensors", "l.csv", "t.csv", "i.txt"),
	writing("extract-frames", "extract video --split test --per-frame --layer probabilities --output p.npy --output-clips"+
		" c.csv --device cpu", []string{"video"}, "p.npy", "c.csv"),
	writing("extract-weights", "extract --weights vgg.safetensors pictures/images --input-size 64 --output p.npy "+
		"--output-ids i.txt --device cpu --threads 1", []string{"vgg.safetensors", "pictures"}, "p.npy", "i.txt"),
	writing("features", "features x.npy --labels y.csv --output f.safetensors --output-labels l.csv", features,
		"f.safetensors", "l.csv"),
	writing("vocab", "vocab pictures/captions_train2014.json --vocab-size 50 --output v.txt", []string{"pictures"},
		"v.txt"),
	writing("vocab-captioner", "vocab --captioner spoken/captions.json --output v.txt", []string{"spoken"}, "v.txt"),
	writing("caption-generate", "caption generate speaker --features spoken/truth.npy --clips spoken/truth.csv --output"+
		" c.json --device cpu", []string{"speaker", "spoken"}, "c.json"),
	writing("caption-eval", "caption eval --results said.json --references spoken/captions.json --output s.csv",
		[]string{"said.json", "spoken"}, "s.csv"),
	writing("noise", "noise --preset scenes --kind flips --missing 0.3 --incorrect 0.1 --set data.train_size=96 --output "+
		"n.jsonl.gz --statistics s.json", nil, "n.jsonl.gz", "s.json"),
	writing("noise-report", "noise report model --output n.html --device cpu", []string{"model"}, "n.html"),
	writing("rates", "rates --logits --scores head/recipe/oof.csv --labels head/recipe/labels.csv --output r.csv",
		[]string{"head"}, "r.csv"),
	writing("audit", "audit --logits --scores head/recipe/oof.csv --labels head/recipe/labels.csv --page p.html "+
		"--suspects s.parquet --rows w.npy --apply=force --precision 0.5 --output o.csv", []string{"head"}, "p.html",
		"s.parquet",
		"w.npy", "o.csv"),
	{
		name: "audit-run", args: "audit head --noise-rates folds:2 --fold-epochs 3 --device cpu --threads 1 --apply=force " +
			"--precision 0.3 --output o.csv",
		needs: []string{"head", "x.npy", "y.csv"}, outputs: []string{"o.csv"}, data: []string{"y.csv"},
	},
	{
		name: "audit-data", args: "audit x.npy --labels y.csv --noise-rates folds:2 --run-dir run --device cpu --threads 1" +
			" --set net.hidden=[16] --set train.batch_size=8 --set run.threads=1 --set recipe.fold_epochs=2 --set " +
			"recipe.epochs=1 --set train.stage1_epochs=2 --set train.stage2_epochs=1 --apply=force --precision 0.1 --output " +
			"fixed.csv" + often,
		needs: features, data: features, outputs: []string{"fixed.csv"},
		runs: []string{"run", "run/stage1"},
	},
	writing("audit-annotators", "audit annotators --labels crowd.csv --annotators a.csv --output l.jsonl --consensus "+
		"c.csv --evidence e.npy", []string{"crowd.csv"}, "a.csv", "l.jsonl", "c.csv", "e.npy"),
	writing("audit-captions", "audit captions pictures/captions_train2014.json --images pictures/images --page"+
		" p.html --min-error 0 --output o.parquet --apply k.json --precision 0.6", []string{"pictures"}, "p.html",
		"o.parquet", "k.json"),
	{
		name: "audit-captions-nets", args: "audit captions pictures/captions_train2014.json --images pictures/images " +
			"--train --run-dir run --set net.width=0.5 --set run.device=cpu --set run.threads=1 --set train.batch_size=8 " +
			"--set recipe.fold_epochs=1 --output o.csv" + often,
		needs: []string{"pictures"}, outputs: []string{"o.csv"}, runs: []string{"run", "run/recipe/stage1/fold-1"},
	},
	writing("predict", "predict head x.npy --output p.npy", []string{"head", "x.npy"}, "p.npy"),
	writing("predict-csv", "predict head x.npy --output p.csv", []string{"head", "x.npy"}, "p.csv"),
	writing("export-onnx", "export model --output m.onnx", []string{"model"}, "m.onnx"),
	writing("export-safetensors", "export model --output m.safetensors", []string{"model"}, "m.safetensors"),
	writing("export-npz", "export model --output m.npz", []string{"model"}, "m.npz"),
	writing("doctor", "doctor --set data.features.train.features=x.npy --labels y.csv --output d.json",
		features, "d.json"),
}
