package reproduce

import (
	"fmt"
	"path/filepath"
	"strings"

	"nmn/internal/durable"
)

// cocoFiles are those of COCO that the paper's protocol reads.
type cocoFiles struct{ train, val, trainImages, valImages, words string }

// msrvttFiles are those of MSR-VTT.
type msrvttFiles struct{ annotation, frames string }

// place is a file or folder with the names that it may have in the folder of a data set, and where it is to be had.
type place struct {
	what  string
	names []string
	cure  string
	into  *string
}

// findCOCO finds the files in a folder; missing says which are not there, and where they are to be had.
func findCOCO(dir string) (f *cocoFiles, missing string) {
	f = &cocoFiles{}
	const site = "from cocodataset.org/#download: "
	return f, find(dir, []place{
		{"the training captions", []string{"annotations/captions_train2014.json", "captions_train2014.json"},
			site + "annotations_trainval2014.zip", &f.train},
		{"the validation captions", []string{"annotations/captions_val2014.json", "captions_val2014.json"},
			site + "annotations_trainval2014.zip", &f.val},
		{"the training pictures", []string{"train2014", "images/train2014"}, site + "train2014.zip", &f.trainImages},
		{"the validation pictures", []string{"val2014", "images/val2014"}, site + "val2014.zip", &f.valImages},
		{"the vocabulary of 1,000 words of Fang et al. (2015)",
			[]string{"vocab_words.txt", "vocab-fang2015/vocab_words.txt"},
			"from the authors' project \"visual-concepts\"", &f.words},
	})
}

// findMSRVTT is findCOCO for MSR-VTT.
func findMSRVTT(dir string) (f *msrvttFiles, missing string) {
	f = &msrvttFiles{}
	return f, find(dir, []place{
		{"the annotations", []string{"train_val_annotation.zip", "train_val_videodatainfo.json",
			"train_val_annotation/train_val_videodatainfo.json"},
			"from the challenge of 2016, train_val_annotation.zip", &f.annotation},
		{"the frames of its clips", []string{"frames"}, "made of the videos by nmn frames", &f.frames},
	})
}

// find looks for the first name of each place that is there.
func find(dir string, places []place) (missing string) {
	var lacks []string
	for _, p := range places {
		for _, name := range p.names {
			if path := filepath.Join(dir, filepath.FromSlash(name)); *p.into == "" && durable.Exists(path) {
				*p.into = path
			}
		}
		if *p.into == "" {
			lacks = append(lacks, fmt.Sprintf("%s, %s (%s)", p.what, p.names[0], p.cure))
		}
	}
	if len(lacks) == 0 {
		return ""
	}
	return fmt.Sprintf("%s lacks %s", dir, strings.Join(lacks, "; "))
}
