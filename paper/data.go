package paper

import (
	"path/filepath"
	"strings"

	"nmn/internal/durable"
	"nmn/loader/dataset"
	"nmn/run"
)

// unpacked is a folder of the paper's data, as its archives are unpacked.
type unpacked struct {
	dir     string
	missing []string // what was looked for in vain
}

// find returns the first path that exists in the folder or in its folder annotations. Without one, what is missing.
func (f *unpacked) find(what string, names ...string) string {
	for _, name := range names {
		for _, path := range []string{filepath.Join(f.dir, name), filepath.Join(f.dir, "annotations", name)} {
			if durable.Exists(path) {
				return path
			}
		}
	}
	f.missing = append(f.missing, what)
	return ""
}

// why says what is missing; empty if everything is there.
func (f *unpacked) why() string {
	if f.missing == nil {
		return ""
	}
	return f.dir + " lacks " + strings.Join(f.missing, ", ")
}

// coco is the configuration of the nets on COCO 2014, by the paper's protocol, and what its folder lacks.
func (s *Settings) coco() (c run.Config, missing string) {
	f := unpacked{dir: s.COCO}
	captions := func(half string) string {
		name := "captions_" + half + ".json"
		return f.find("annotations/"+name, name, name+".gz")
	}
	c = preset(run.PaperCOCOPreset, run.Quick)
	d := &c.Data
	d.Set = dataset.Captions
	d.Captions, d.Images = captions("train2014"), f.find("the folder train2014", "train2014")
	d.ValCaptions, d.ValImages = captions("val2014"), f.find("the folder val2014", "val2014")
	d.Vocabulary = f.find("vocab_words.txt (the vocabulary of 1,000 words of Fang et al. (2015), from their project "+
		"visual-concepts)", "vocab_words.txt", "vocab-fang2015/vocab_words.txt")
	return s.with(c), f.why()
}

// msrvtt is the configuration of the nets on MSR-VTT, by the paper's protocol, and what its folder lacks.
func (s *Settings) msrvtt() (c run.Config, missing string) {
	f := unpacked{dir: s.MSRVTT}
	c = preset(run.PaperMSRVTTPreset, run.Quick)
	const sentences, archive = "train_val_videodatainfo.json", "train_val_annotation.zip"
	c.Data.MSRVTT = f.find(sentences+" or "+archive, sentences, sentences+".gz", archive)
	c.Data.FramesDir = f.find("the folder frames, which nmn frames writes from the clips", "frames")
	return s.with(c), f.why()
}
