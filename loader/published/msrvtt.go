package published

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/loader/doctor"
	"nmn/loader/shard"
)

// MSRVTTSize is how much of MSR-VTT there should be.
type MSRVTTSize struct {
	Train, Validate, Test int // clips
	PerClip               int // sentences of every clip
}

// MSRVTTCounts returns the numbers of the publication: 10,000 clips with 20 sentences each. The paper uses
// the train and validate clips.
func MSRVTTCounts() MSRVTTSize {
	return MSRVTTSize{Train: 6513, Validate: 497, Test: 2990, PerClip: annotation.MSRVTTCaptions}
}

const msrvttPage = "the pages of MSR-VTT at Microsoft Research, or of the MSR Video to Language Challenge 2016"

// Files of the annotations, with the SHA-256 of the archive and of the file in it as they were published.
const (
	msrvttJSON          = "train_val_videodatainfo.json"
	msrvttArchive       = "train_val_annotation.zip"
	msrvttTest          = "test_videodatainfo.json"
	msrvttJSONSHA256    = "542997a95196eb7983c16860ad416c7b32c6c07236bcf189cbfae904ea2e8335"
	msrvttArchiveSHA256 = "ce2d97dd82d03e018c6f9ee69c96eb784397d1c83f734fdb8c17aafa5e27da31"
)

// inFolders are names in the folders where the archives of MSR-VTT put them.
func inFolders(names ...string) []string {
	var all []string
	for _, folder := range []string{"", "annotations/", "annotation/", "train_val_annotation/"} {
		for _, name := range names {
			all = append(all, folder+name)
		}
	}
	return all
}

var (
	msrvttAnnotations = inFolders(msrvttJSON, msrvttJSON+".gz", msrvttArchive)
	msrvttTests       = inFolders(msrvttTest, msrvttTest+".gz", "test_videodatainfo.json.zip")
	msrvttClips       = []string{"TrainValVideo", "train_val_videos/TrainValVideo", "videos/all", "videos", "clips"}
	msrvttFrames      = []string{"frames"}
)

var clipEndings = []string{".mp4", ".avi", ".mkv", ".webm", ".mov"}

// MSRVTT checks a folder of MSR-VTT: train_val_videodatainfo.json (plain, .gz, or in its original archive), and the
// clips in TrainValVideo, videos or clips, or their frames in frames as nmn frames writes them. Annotations and clips
// of the test split are optional; they are checked if they are there. Findings and errors are as for COCO.
func MSRVTT(ctx context.Context, dir string, want MSRVTTSize) (*Folder, error) {
	f, ok := open("msrvtt", dir, msrvttJSON+" and the folder TrainValVideo")
	if !ok || f.elsewhere("MSR-VTT", holdsMSRVTT,
		append([]string{"TestVideo", "annotation", "annotations", "train_val_annotation"}, msrvttClips...),
		fmt.Sprintf("holds neither %s nor %s nor TrainValVideo", msrvttJSON, msrvttArchive),
		"give the folder that MSR-VTT was unpacked into; available at "+msrvttPage) {
		return f, nil
	}
	clips, err := f.msrvttSentences(ctx, want)
	if err != nil {
		return nil, err
	}
	if err := f.msrvttTestSentences(ctx, want, clips); err != nil {
		return nil, err
	}
	if err := f.msrvttPresent(ctx, clips); err != nil {
		return nil, err
	}
	doctor.Sort(f.Findings)
	return f, nil
}

func holdsMSRVTT(dir string) bool {
	f := Folder{Dir: dir}
	return f.first(false, msrvttAnnotations...) != "" || f.first(true, msrvttClips[:2]...) != ""
}

// msrvttSentences reads the annotations of the train and validate clips; nil if they are unusable.
func (f *Folder) msrvttSentences(ctx context.Context, want MSRVTTSize) (*annotation.Bags, error) {
	file := f.first(false, msrvttAnnotations...)
	if file == "" {
		f.add(doctor.Error, "missing-annotations", msrvttJSON+" is missing, and so is "+msrvttArchive,
			"put one of them there; get them from "+msrvttPage)
		return nil, nil
	}
	known := map[string]string{".json": msrvttJSONSHA256, ".zip": msrvttArchiveSHA256}[filepath.Ext(file)]
	if want != MSRVTTCounts() {
		known = "" // a part of the data has a digest of its own
	}
	clips, err := f.read(ctx, file, known, annotation.FormMSRVTT)
	if clips == nil {
		return nil, err
	}
	f.Annotations = file
	splits := map[string]int{}
	for _, split := range clips.Splits {
		splits[split]++
	}
	train := f.count("clips of train", splits[loader.TrainSplit], want.Train)
	validate := f.count("clips of validate", splits[loader.ValidationSplit], want.Validate)
	if !train || !validate {
		text := fmt.Sprintf("%s describes %d train and %d validate clips, but %d and %d were published", f.below(file),
			splits[loader.TrainSplit], splits[loader.ValidationSplit], want.Train, want.Validate)
		if splits[loader.TrainSplit] == 0 && splits[loader.TestSplit] > 0 {
			text = f.below(file) + " describes only test clips"
		}
		f.add(doctor.Error, "annotation-counts", text, "put the "+msrvttJSON+" of "+msrvttArchive+" there")
	}
	f.msrvttPerClip(file, clips, want)
	return clips, nil
}

// msrvttPerClip counts sentences, and finds clips with another number than published.
func (f *Folder) msrvttPerClip(file string, m *annotation.Bags, want MSRVTTSize) {
	var odd []string
	for i, sentences := range m.Captions {
		if len(sentences) != want.PerClip {
			odd = append(odd, m.IDs[i])
		}
	}
	f.count("sentences of "+filepath.Base(file), m.Len(), len(m.IDs)*want.PerClip)
	f.list(doctor.Error, "few-captions", fmt.Sprintf("clips of %s with another number of sentences than %d", f.below(file),
		want.PerClip), "put the file as it was published there", odd)
}

// msrvttTestSentences looks at the annotations of the test clips, which the protocol does not need.
func (f *Folder) msrvttTestSentences(ctx context.Context, want MSRVTTSize, known *annotation.Bags) error {
	inside := known != nil && slices.Contains(known.Splits, loader.TestSplit)
	file := f.first(false, msrvttTests...)
	if file == "" {
		if !inside {
			f.add(doctor.Note, "no-test", "there are no annotations of the test clips; the paper does not use them",
				"nothing, or put "+msrvttTest+" there for tests of your own")
		}
		return nil
	}
	clips, err := f.read(ctx, file, "", annotation.FormMSRVTT)
	if clips == nil {
		return err
	}
	f.TestAnnotations = file
	test := len(clips.Split(loader.TestSplit).IDs)
	if !f.count("clips of test", test, want.Test) {
		f.add(doctor.Warning, "annotation-counts", fmt.Sprintf("%s describes %d test clips, but %d were published",
			f.below(file), test, want.Test), "put the "+msrvttTest+" of the publication there")
	}
	f.msrvttPerClip(file, clips, want)
	return nil
}

// msrvttPresent looks for the clips of train and validate, or for their frames.
func (f *Folder) msrvttPresent(ctx context.Context, m *annotation.Bags) error {
	if frames := f.first(true, msrvttFrames...); frames != "" {
		inside := Folder{Dir: frames}
		if inside.first(false, "index.jsonl") != "" {
			f.Frames = frames
		}
	}
	f.Clips = f.first(true, msrvttClips...)
	from := "unpack train_val_videos.zip there; available at " + msrvttPage
	if f.Frames != "" && m != nil {
		if err := f.msrvttInFrames(ctx, m); err != nil {
			return err
		}
	}
	switch {
	case f.Clips == "" && f.Frames != "":
		return nil
	case f.Clips == "":
		f.add(doctor.Error, "missing-clips", "there is no folder TrainValVideo, videos or clips, nor one with frames", from)
		return nil
	}
	names, err := f.names(ctx, f.Clips, "clips")
	if names != nil && m != nil {
		f.msrvttMissing(m, names, from)
	}
	return err
}

// needed are the clips of train and validate: the paper does not use the test clips.
func needed(m *annotation.Bags) []string {
	return append(m.Split(loader.TrainSplit).IDs, m.Split(loader.ValidationSplit).IDs...)
}

// framesOfClip is the number of frames that the paper takes of every clip.
const framesOfClip = 26

// msrvttInFrames counts clips of train and validate that have no frames, by the index of the folder of frames.
func (f *Folder) msrvttInFrames(ctx context.Context, m *annotation.Bags) error {
	const again = "have nmn frames write them again from the clips"
	frames := map[string]int{}
	for record, err := range shard.Records(f.Frames) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			f.add(doctor.Error, "unreadable-frames",
				f.below(f.Frames)+" cannot be used: "+strings.ReplaceAll(err.Error(), "\n", " "), again)
			return nil
		}
		base := path.Base(record.Clip)
		frames[strings.TrimSuffix(base, path.Ext(base))] = len(record.Frames)
	}
	var missing, fewer []string
	all := needed(m)
	for _, clip := range all {
		switch n, ok := frames[clip]; {
		case !ok:
			missing = append(missing, clip)
		case n != framesOfClip:
			fewer = append(fewer, clip)
		}
	}
	f.count("clips of train and validate that have frames", len(all)-len(missing), len(all))
	f.list(doctor.Error, "missing-frames", "clips without frames in "+f.below(f.Frames),
		again+", and see problems.jsonl next to them", missing)
	f.list(doctor.Note, "frame-counts", fmt.Sprintf("clips in %s with another number of frames than the paper's %d",
		f.below(f.Frames), framesOfClip), "nothing for short clips; else "+again, fewer)
	return nil
}

// msrvttMissing counts clips of train and validate that are not there, or empty.
func (f *Folder) msrvttMissing(m *annotation.Bags, names map[string]int64, from string) {
	sizes := map[string]int64{} // by identifier
	for name, size := range names {
		ending := filepath.Ext(name)
		if slices.Contains(clipEndings, strings.ToLower(ending)) && size >= 0 {
			id := strings.TrimSuffix(name, ending)
			sizes[id] = max(sizes[id], size)
		}
	}
	w := wanted{noun: "clips", place: "of " + f.below(f.Clips), weight: doctor.Error, cure: from,
		counts: "clips of train and validate that are there"}
	if f.Frames != "" {
		w.weight = doctor.Note // the frames were made of them once
	}
	f.present(w, needed(m), sizes)
}
