package main

import (
	"fmt"
	"strconv"

	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/recipe"
	"nmn/run"
	"nmn/train"

	"github.com/spf13/cobra"
)

// sources are the flags that say what a configuration is made of, beside the fields themselves.
type sources struct {
	preset run.PresetName
	size   run.Size
	file   string
	print  bool
}

func sourceFlags(cmd *cobra.Command, s *sources, sizes ...run.Size) {
	r := under(cmd, "Configuration")
	enum(r, &s.preset, "preset", "`name` of the settings to start from (default scenes; with --captions or --manifest paper-coco, with --msrvtt or --clips paper-msrvtt, with --features features)", run.Presets()...)
	enum(r, &s.size, "size", "`size` of the scenes presets (default "+string(sizes[0])+"); quick is 4,000 pictures (moving-scenes: 1,000 clips of 8 frames), full 16,000 (2,000 of 26)", sizes...)
	r.file(&s.file, "config", "YAML `file` laid over the preset; flags go before it", "yaml", "yml")
	r.bool(&s.print, "print-config", "print the resolved configuration as YAML, and stop")
}

// setFlags choose pictures and labels, without noise.
func setFlags(cmd *cobra.Command, c *run.Config) {
	d := &c.Data
	r := under(cmd, "Data")
	enum(r, &d.Set, "data", "`source` of pictures and labels", dataset.Kinds()...)
	r.uint64(&d.Seed, "data-seed", "`seed` of scenes and splits")
	r.int(&d.TrainSize, "train-size", "scenes: training `pictures`, or clips of moving scenes")
	r.int(&d.ValidationSize, "validation-size", "scenes: validation `pictures` or clips, 0 for none")
	r.int(&d.TestSize, "test-size", "scenes: test `pictures` or clips")
	r.int(&d.Frames, "frames", "moving scenes: `frames` of each clip (default 8, in full size 26)")
	enum(r, &d.VideoLevel, "video-level", "what is learned of videos: each frame with the labels of its video, which at test has the maximum over its frames, or the video as one bag (default auto: video with MIL, frame without)", dataset.VideoLevels()...)
	captionFlags(cmd, c)
	r.file(&d.Manifest, "manifest", "`file` that lists pictures (path), or clips as lists of frames (frames), with labels by name, as CSV or JSON lines", "csv", "tsv", "jsonl", "gz")
	r.file(&d.MSRVTT, "msrvtt", "MSR-VTT: annotation `file` of its clips, or the zip archive in which it comes", "json", "gz", "zip")
	r.directory(&d.FramesDir, "frames-dir", "MSR-VTT: `folder` of the clips' frames, as nmn frames writes it")
	r.directory(&d.Clips, "clips", "`folder` of the frames of training clips, as nmn frames writes it, with "+loader.LabelsName)
	r.directory(&d.ValClips, "val-clips", "`folder` of those of validation clips, likewise (without it and --test-clips shares are held out)")
	r.directory(&d.TestClips, "test-clips", "`folder` of those of test clips, likewise")
	r.int(&d.ShuffleBlock, "shuffle-block", "--clips: so many neighbours in the files come together, `bags`; 0 mixes all with all")
	r.int(&d.ShuffleWindow, "shuffle-window", "--clips: so many `blocks` of neighbours are mixed with each other")
	r.int(&d.MaxBadSamples, "max-bad-samples", "`pictures` or clips that cannot be used and are left out before training stops")
}

// dataFlags add the noise and how pictures are read.
func dataFlags(cmd *cobra.Command, c *run.Config) {
	d := &c.Data
	setFlags(cmd, c)
	r := under(cmd, "Data")
	r.set.Var(noiseFlag{&d.Noise, &d.NoiseFile}, "noise", "`rate|file`: share of each training picture's captions to replace by others', or a noise file (see nmn noise)")
	r.keep("noise", &d.Noise)
	_ = cmd.MarkFlagFilename("noise")
	r.set.Var(&d.Flips, "flips", "flip labels of training and validation: `missing:incorrect`, two probabilities; those of the files are then the truth")
	r.keep("flips", &d.Flips)
	flipFlags(cmd, d)
	r.file(&d.FlipRates, "flip-rates", "`file` with the rates of each class instead (word, q01, q10)", "csv")
	r.uint64(&d.NoiseSeed, "noise-seed", "`seed` of label noise, 0 for that of the data")
	enum(r, &d.Fit, "fit", "how pictures get onto the canvas (default longest with MIL, square without)", picture.FitLongest, picture.FitSquare, picture.FitNone)
	r.int(&d.MaxPixels, "max-pixels", "largest picture that is decoded, in `pixels`")
}

// flipFlags say how flips differ between classes.
func flipFlags(cmd *cobra.Command, d *dataset.Config) {
	r := under(cmd, "Data")
	r.float(&d.FlipSpread, "flip-spread", "the rates of each class lie within this `share` of those of --flips, at random; 0 for equal ones")
}

// captionFlags are those of COCO data.
func captionFlags(cmd *cobra.Command, c *run.Config) {
	d := &c.Data
	r := under(cmd, "Data")
	r.file(&d.Captions, "captions", "COCO caption `file` of the training pictures", "json")
	r.directory(&d.Images, "images", "`folder` of the training pictures (with --manifest default its folder)")
	r.file(&d.ValCaptions, "val-captions", "COCO caption `file` of validation and test pictures", "json")
	r.directory(&d.ValImages, "val-images", "`folder` of their pictures (default that of --images)")
	r.float(&d.ValidationShare, "validation-share", "`share` of the pictures held out for validation, where no file names them")
	r.float(&d.TestShare, "test-share", "`share` held out for the test, likewise")
	r.file(&d.ValidationIDs, "validation-ids", "`file` with the identifiers of the validation pictures")
	r.file(&d.TestIDs, "test-ids", "`file` with the identifiers of the test pictures")
	r.int(&d.CaptionsPerBag, "captions-per-bag", "`captions` of each picture that count, the first by annotation id")
	r.file(&d.Vocabulary, "vocab", "vocabulary `file`, word, POS, count on each line (default: built from the training captions or labels)")
	r.int(&d.VocabularySize, "vocab-size", "most frequent `words` of a vocabulary that is built")
	r.int(&d.MinCount, "min-count", "least `occurrences` of a word of a vocabulary that is built")
}

// noiseFlag takes a rate or the name of a file.
type noiseFlag struct {
	rate *float64
	file *string
}

func (n noiseFlag) String() string {
	switch {
	case n.rate == nil:
		return ""
	case *n.file != "":
		return *n.file
	}
	return strconv.FormatFloat(*n.rate, 'g', -1, 64)
}

func (n noiseFlag) Set(s string) error {
	rate, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		*n.rate, *n.file = 0, s
	case !(rate >= 0 && rate < 1):
		return fmt.Errorf("a rate is at least 0 and less than 1")
	default:
		*n.rate, *n.file = rate, ""
	}
	return nil
}

func (n noiseFlag) Type() string { return "rate|file" }

func netFlags(cmd *cobra.Command, c *run.Config) {
	n := &c.Net
	r := under(cmd, "Network")
	enum(r, &n.Arch, "net", "`network` to start from", run.NetVGG16, run.NetScenes, run.NetMLP)
	r.ints(&n.Hidden, "hidden", "mlp: widths of the hidden layers, as `n,n,...`; none for a linear classifier")
	r.float(&n.Width, "width", "`factor` on the channels of all hidden layers")
	r.int(&n.InputSize, "input-size", "height and width of the input in `pixels` (default that of the network)")
	r.ints(&n.Depths, "depths", "convolutions of each block, as `n,n,...` (default those of the network)")
	r.ints(&n.Widths, "widths", "channels of each block, as `n,n,...` (default those of the network)")
	r.int(&n.FC6, "fc6", "`channels` of fc6 (default that of the network)")
	r.int(&n.FC7, "fc7", "`channels` of fc7 (default that of the network)")
	r.int(&n.FC6Kernel, "fc6-kernel", "height and width of fc6 in `cells` (default that of the network)")
	r.float(&n.Dropout, "dropout", "`share` of fc6 and fc7 set to 0 in training; -1 for that of the network")
	enum(r, &n.NoisePool, "noise-pool", "`pooling` of the features that the noise model sees", "mean", "max")
	r.bool(&n.NoiseDetach, "noise-detach", "keep the noise model's gradient out of the features")
	enum(r, &n.Pixels, "pixels", "`scale` of pixels that vgg16 sees, that of torchvision's weights and random starts, or that of Caffe's weights", run.PixelsUnit, run.PixelsRaw)
	initFlags(r, n)
}

func deviceFlag(cmd *cobra.Command, r room, device *string) {
	r.string(device, "device", "`device` that computes: auto, cpu, cuda or cuda:n")
	_ = cmd.RegisterFlagCompletionFunc("device", cobra.FixedCompletions([]string{"auto", "cpu", "cuda"}, cobra.ShellCompDirectiveNoFileComp))
}

func runFlags(cmd *cobra.Command, c *run.Resources) {
	r := under(cmd, "Run")
	deviceFlag(cmd, r, &c.Device)
	precisionFlag(r, c)
	convExactFlag(r, c)
	r.bool(&c.SyncLaunches, "sync-launches", "wait for each kernel of a graphics card, so that a fault names the one that failed; slow")
	r.bool(&c.NoGraphs, "no-graphs", "launch the kernels of a step one by one on a graphics card, instead of replaying a recorded step")
	r.bool(&c.TensorBoard, "tensorboard", "also write the run for TensorBoard, into the folder tensorboard of the run: losses, measures, precision-recall curves, pictures of the surest mistakes")
	r.bool(&c.NVTX, "nvtx", "name layers and phases to a profiler, such as Nsight Systems, that has started this program")
	r.int(&c.Threads, "threads", "`goroutines` that compute; 0 for one on each processor. Results do not depend on it")
	r.int(&c.Workers, "workers", "`goroutines` that load pictures. Results do not depend on it")
	r.int(&c.Prefetch, "prefetch", "`batches` loaded ahead")
	r.int(&c.LabelMemory, "label-memory", "labels of --clips that are held in memory, `MiB`; beyond it they are read from their file as clips come up. What is learned does not depend on it")
}

// precisionFlag declares --precision in a room with --device.
func precisionFlag(r room, c *run.Resources) {
	enum(r, &c.Precision, "precision", "`format` of numbers; auto is bf16 on a card that has it, the CPU computes in fp32", tensor.Precisions()...)
}

// convExactFlag declares --conv-exact in a room with --device.
func convExactFlag(r room, c *run.Resources) {
	r.bool(&c.ConvExact, "conv-exact", "convolutions on the CPU as sums of the products themselves: slower, and closer to the exact result by about a bit")
}

func trainFlags(cmd *cobra.Command, c *run.Config) {
	t := &c.Train
	r := under(cmd, "Training")
	r.uint64(&t.Seed, "seed", "`seed` of the start, the order and dropout")
	r.set.Var(bothEpochs{t}, "epochs", "`epochs` of both stages; --stage1-epochs and --stage2-epochs set one")
	r.keepAlias("epochs", &t.Stage1Epochs)
	r.int(&t.Stage1Epochs, "stage1-epochs", "`epochs` of stage 1, the classifier alone")
	r.int(&t.Stage2Epochs, "stage2-epochs", "`epochs` of stage 2")
	r.int(&t.MaxSteps, "max-steps", "end each stage after so many `steps`, 0 for no limit")
	r.int(&t.BatchBags, "batch-size", "`pictures` of a batch without MIL")
	r.int(&t.BatchBagsMIL, "batch-size-mil", "`pictures` of a batch with MIL, or videos")
	r.int(&t.Accumulate, "accumulate", "`batches` whose gradients make one step")
	r.int(&t.ChunkFrames, "chunk-frames", "`frames` that go through the net together, 0 for whole batches: less memory, more time, the same gradients")
	r.bool(&t.Overfit, "overfit-one-batch", "train on the first batch at every step, to see that the net can learn it by heart")
	r.bool(&t.Flip, "flip", "mirror half of the pictures")
	lossFlags(cmd, &t.Loss)
	optimizerFlags(cmd, t)
	noiseModelFlags(cmd, c)
	recipeFlags(cmd, c)
	savingFlags(cmd, t)
	under(cmd, "Checkpoints and log").bool(&c.EachEpoch, "each-epoch", "evaluate after every epoch as at the end, and keep the figures in "+run.EpochsFile+"; learns nothing else")
}

func optimizerFlags(cmd *cobra.Command, t *train.Config) {
	r := under(cmd, "Optimizer")
	enum(r, &t.Optimizer, "optimizer", "`kind`", train.SGD, train.Adam)
	r.float(&t.LearningRate, "learning-rate", "`rate` for a loss summed over classes and averaged over pictures")
	enum(r, &t.Schedule, "schedule", "of the learning rate", train.Constant, train.StepDown, train.Cosine)
	r.int(&t.WarmupSteps, "warmup-steps", "`steps` of linear rise to the learning rate")
	r.int(&t.StepEvery, "step-every", "schedule step: `steps` between drops")
	r.float(&t.StepFactor, "step-factor", "schedule step: `factor` of a drop")
	r.float(&t.CosineFloor, "cosine-floor", "schedule cosine: `share` of the rate at the end")
	r.float(&t.Momentum, "momentum", "`momentum` of sgd")
	r.float(&t.Beta1, "beta1", "`decay` of adam's first moment")
	r.float(&t.Beta2, "beta2", "`decay` of adam's second moment")
	r.float(&t.Epsilon, "epsilon", "adam's `term` beside the root")
	r.float(&t.WeightDecay, "weight-decay", "`factor` of the L2 penalty")
	r.bool(&t.DecayBiases, "decay-biases", "apply weight decay to biases too")
	r.float(&t.ClipNorm, "clip-norm", "limit on the `norm` of the gradient, 0 for none")
	r.set.Var(rulesFlag{&t.LearningRates}, "multipliers", "learning-rate multipliers of parameters, as `pattern=factor,...`, for example head.fc8.*=10")
	r.keep("multipliers", &t.LearningRates)
	r.strings(&t.Freeze, "freeze", "parameters that do not learn, as `pattern,...`, for example backbone.conv[12]_*")
	enum(r, &t.ClassifierStart, "classifier-start", "`bias` of the last layer at the start", train.BaseRate, train.LabelMeans)
	r.float(&t.BaseRateLogit, "base-rate-logit", "that bias in `log-odds`, for base-rate")
	r.float(&t.ClassifierDeviation, "classifier-deviation", "standard `deviation` of the last layer's weights at the start")
}

func noiseModelFlags(cmd *cobra.Command, c *run.Config) {
	n := &c.Train.Noise
	r := under(cmd, "Noise model")
	r.set.Var(noiseStartFlag{n}, "noise-start", "start and pace of the noise model together, as `scenes|paper`: rates .35 and .16 with U at a tenth of the rate, "+
		"or the paper's plain form, a flip of .036 and factors 10 and 20; the flags below change single settings")
	r.keep("noise-start", n)
	r.float32s(&n.Q01, "miss-rate", "q01 = p(label missing | concept there) at the start, a `probability` for all classes or one for each")
	r.float32s(&n.Q10, "false-rate", "q10 = p(label there | concept missing) at the start, a `probability` likewise")
	r.float(&n.Deviation, "noise-deviation", "standard `deviation` of U at the start")
	r.float(&n.WeightMultiplier, "noise-weight-multiplier", "learning-rate `factor` of U")
	r.float(&n.BiasMultiplier, "noise-bias-multiplier", "learning-rate `factor` of b")
	r.bool(&n.Frozen, "noise-frozen", "hold the noise model at its start")
}

func savingFlags(cmd *cobra.Command, t *train.Config) {
	r := under(cmd, "Checkpoints and log")
	r.int(&t.LogSteps, "log-interval", "`steps` between log lines")
	r.int(&t.EvaluateEpochs, "evaluate-epochs", "`epochs` between validations, 0 for never")
	r.int(&t.EvaluateSteps, "evaluate-steps", "`steps` between validations, 0 for never")
	r.int(&t.CheckpointEpochs, "checkpoint-epochs", "`epochs` between checkpoints, 0 for never")
	r.int(&t.CheckpointSteps, "checkpoint-steps", "`steps` between checkpoints, 0 for never")
	r.int(&t.KeepBest, "keep-best", "best `checkpoints` kept beside the last")
	enum(r, &t.BestBy, "best-by", "validation `measure` that tells the best", train.Measures()...)
	r.int(&t.Patience, "patience", "end a stage after so many `validations` without a new best, and go back to the best; 0 for never")
}

// noiseModelFlag is --noise-model, another way to name the arm of stage 2.
type noiseModelFlag struct{ arm *recipe.Name }

func (n noiseModelFlag) String() string {
	if n.arm == nil {
		return ""
	}
	return string(n.arm.Noise())
}

func (n noiseModelFlag) Set(s string) error {
	for _, a := range []recipe.Name{recipe.Star, recipe.FI, recipe.FD} {
		if string(a.Noise()) == s {
			*n.arm = a
			return nil
		}
	}
	return fmt.Errorf("want %s, %s or %s", model.NoNoise, model.FeatureIndependent, model.FeatureDependent)
}

func (n noiseModelFlag) Type() string { return "choice" }

// bothEpochs is --epochs.
type bothEpochs struct{ config *train.Config }

func (b bothEpochs) String() string {
	if b.config == nil || b.config.Stage1Epochs != b.config.Stage2Epochs {
		return ""
	}
	return strconv.Itoa(b.config.Stage1Epochs)
}

func (b bothEpochs) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return fmt.Errorf("want a whole number of at least 0")
	}
	b.config.Stage1Epochs, b.config.Stage2Epochs = n, n
	return nil
}

func (b bothEpochs) Type() string { return "int" }
