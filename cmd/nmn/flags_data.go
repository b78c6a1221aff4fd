package main

import (
	"github.com/spf13/cobra"

	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/manifest"
	"nmn/loader/picture"
	"nmn/run"
)

// setFlags choose pictures and labels, without noise.
func setFlags(cmd *cobra.Command, c *run.Config) {
	d := &c.Data
	r := under(cmd, "Data")
	enum(r, &d.Set, "data", "`source` of pictures and labels", dataset.Kinds()...)
	r.uint64(&d.Seed, "data-seed", "`seed` of scenes and splits")
	r.int(&d.TrainSize, "train-size", "scenes: training `pictures`, or clips of moving scenes")
	r.int(&d.ValidationSize, "validation-size", "scenes: validation `pictures` or clips, 0 for none")
	r.int(&d.TestSize, "test-size", "scenes: test `pictures` or clips")
	r.int(&d.Frames, "frames", "moving scenes: `frames` of each clip")
	enum(r, &d.VideoLevel, "video-level", "what is learned of videos: each frame with the labels of its video, "+
		"which at test has the maximum over its frames, or the video as one bag (default auto: video with MIL, "+
		"frame without)", dataset.VideoLevels()...)
	captionFlags(cmd, c)
	r.file(&d.Manifest, "manifest", "`file|folder` of pictures with labels by name: CSV or JSON lines with path and "+
		"labels, COCO instances, Pascal VOC, YOLO, or a folder for each label (docs/labels.md)", "csv", "tsv", "jsonl",
		"json", "yaml", "gz")
	enum(r, &d.LabelForm, "label-form", "how --manifest states its labels, where `form` is not what is found",
		manifest.Forms()...)
	r.bool(&d.SkipDifficult, "skip-difficult", "Pascal VOC: objects that are marked difficult are no labels")
	r.file(&d.MSRVTT, "msrvtt", "MSR-VTT: annotation `file` of its clips, or the zip archive in which it "+
		"comes", "json", "gz", "zip")
	r.directory(&d.FramesDir, "frames-dir", "MSR-VTT: `folder` of the clips' frames, as nmn frames writes it")
	r.directory(&d.Clips, "clips", "`folder` of the frames of training clips, as nmn frames writes it, with "+
		""+loader.LabelsName)
	r.file(&d.ClipLabels, "clip-labels", "`file` of labels for the frames of --clips, such as the corrected ones of nmn "+
		"audit, in place of "+loader.LabelsName+" beside them", "jsonl")
	r.directory(&d.ValClips, "val-clips", "`folder` of those of validation clips, likewise (without it and "+
		"--test-clips shares are held out)")
	r.directory(&d.TestClips, "test-clips", "`folder` of those of test clips, likewise")
	r.int(&d.ShuffleBlock, "shuffle-block", "--clips: so many neighbours in the files come together, `bags`; 0 "+
		"mixes all with all")
	r.int(&d.ShuffleWindow, "shuffle-window", "--clips: so many `blocks` of neighbours are mixed with each other")
	r.int(&d.MaxBadSamples, "max-bad-samples", "`pictures` or clips that cannot be used and are left out before "+
		"training stops")
}

// dataFlags add the noise and how pictures are read.
func dataFlags(cmd *cobra.Command, c *run.Config) {
	d := &c.Data
	setFlags(cmd, c)
	r := under(cmd, "Data")
	r.value(noiseFlag{&d.Noise, &d.NoiseFile}, &d.Noise, "noise",
		"`rate|file`: share of each training picture's captions "+
			"to replace by others', or a noise file (see nmn noise)")
	_ = cmd.MarkFlagFilename("noise")
	r.value(&d.Flips, &d.Flips, "flips",
		"flip labels of training and validation: `missing:incorrect`, two probabilities; "+
			"those of the files are then the truth")
	flipFlags(cmd, d)
	r.file(&d.Evidence, "evidence", "`file` of log-likelihood ratios, a row for each training bag before "+
		"shares are held out, or with a column id, that are learned in place of labels (docs/evidence.md)", "npy", "csv")
	r.file(&d.FlipRates, "flip-rates", "`file` with the rates of each class instead (word, q01, q10)", "csv")
	r.uint64(&d.NoiseSeed, "noise-seed", "`seed` of label noise, 0 for that of the data")
	enum(r, &d.Fit, "fit", "how pictures get onto the canvas (default longest with MIL on vgg16 and ResNets, else "+
		"square)", picture.FitLongest, picture.FitSquare, picture.FitNone)
	enum(r, &d.Resize, "resize", "`filter` for resizing: antialias smooths what it shrinks, as Pillow and torchvision do; "+
		"bilinear, which goes with --preset paper-* and a --config that names none, does not", picture.Filters()...)
	enum(r, &d.Orientation, "orientation", "what is done about the Exif `orientation` of a picture; ignore goes with "+
		"--preset paper-* and a --config that names none", picture.Orientations()...)
	r.int(&d.MaxPixels, "max-pixels", "largest picture that is decoded, in `pixels`")
}

// flipFlags say how flips differ between classes.
func flipFlags(cmd *cobra.Command, d *dataset.Config) {
	r := under(cmd, "Data")
	r.float(&d.FlipSpread, "flip-spread", "the rates of each class lie within this `share` of those of --flips, at "+
		"random; 0 for equal ones")
}

// captionFlags are those of COCO data.
func captionFlags(cmd *cobra.Command, c *run.Config) {
	d := &c.Data
	r := under(cmd, "Data")
	r.file(&d.Captions, "captions", "COCO caption `file` of the training pictures", "json")
	r.directory(&d.Images, "images", "`folder` of the training pictures (with --manifest default its folder; alone "+
		"a folder of pictures for each label)")
	r.file(&d.ValCaptions, "val-captions", "COCO caption `file` of validation and test pictures", "json")
	r.directory(&d.ValImages, "val-images", "`folder` of their pictures (default that of --images)")
	r.float(&d.ValidationShare, "validation-share", "`share` of the pictures held out for validation, where no file "+
		"names them")
	r.float(&d.TestShare, "test-share", "`share` held out for the test, likewise")
	r.file(&d.ValidationIDs, "validation-ids", "`file` with the identifiers of the validation pictures")
	r.file(&d.TestIDs, "test-ids", "`file` with the identifiers of the test pictures")
	r.int(&d.CaptionsPerBag, "captions-per-bag", "`captions` of each picture that count, the first by annotation id")
	r.file(&d.Vocabulary, "vocab", "vocabulary `file`, a name or word, POS, count on each line (default: built from the "+
		"training captions or labels)")
	r.int(&d.VocabularySize, "vocab-size", "most frequent `words` of a vocabulary that is built")
	r.int(&d.MinCount, "min-count", "least `occurrences` of a word of a vocabulary that is built")
	r.bool(&d.KeepFunctionWords, "keep-function-words", "have words such as a, on and of become classes of a vocabulary "+
		"that is built from captions")
}
