package paper

import (
	"context"
	"fmt"
	"strings"

	"nmn/loader/doctor"
	"nmn/loader/published"
)

// cocoFiles are the files of COCO in the paper's protocol.
type cocoFiles struct {
	train, val, trainImages, valImages, words string
	digests                                   []published.File
}

// msrvttFiles are the files of MSR-VTT.
type msrvttFiles struct {
	annotation, frames string
	digests            []published.File
}

// counts are how much of the data sets there should be.
type counts struct {
	coco   published.COCOSize
	msrvtt published.MSRVTTSize
}

func publishedCounts() counts { return counts{published.COCOCounts(), published.MSRVTTCounts()} }

// findCOCO examines the folder of COCO. missing is the reason why the paper's protocol cannot be run on it,
// and the cure.
func findCOCO(ctx context.Context, dir string, want published.COCOSize) (f *cocoFiles, missing string, err error) {
	found, err := published.COCO(ctx, dir, want)
	if err != nil {
		return nil, "", err
	}
	f = &cocoFiles{train: found.TrainCaptions, val: found.ValCaptions, trainImages: found.TrainImages,
		valImages: found.ValImages, words: found.Words, digests: found.Files}
	if missing = whyNot(found); missing != "" {
		return f, missing, nil
	}
	if f.words == "" {
		missing = fmt.Sprintf("%s lacks vocab_words.txt, the vocabulary of 1,000 words of Fang et al. (2015), which is to "+
			"be had "+
			"from their project visual-concepts", dir)
	}
	return f, missing, nil
}

// findMSRVTT is findCOCO for MSR-VTT.
func findMSRVTT(ctx context.Context, dir string, want published.MSRVTTSize) (f *msrvttFiles, missing string,
	err error) {
	found, err := published.MSRVTT(ctx, dir, want)
	if err != nil {
		return nil, "", err
	}
	f = &msrvttFiles{annotation: found.Annotations, frames: found.Frames, digests: found.Files}
	if missing = whyNot(found); missing == "" && f.frames == "" {
		missing = fmt.Sprintf("%s has clips and no folder frames: have nmn frames write it from %s", dir, found.Clips)
	}
	return f, missing, nil
}

// whyNot is the first finding that would stop the paper's protocol, and how many more there are; empty for none.
func whyNot(f *published.Folder) (text string) {
	for _, finding := range f.Findings {
		if finding.Weight == doctor.Error {
			text = fmt.Sprintf("%s; to fix it, %s", finding.Text, finding.Cure)
			if !strings.Contains(text, f.Dir) {
				text = f.Dir + ": " + text
			}
			break
		}
	}
	if n := f.Errors() - 1; n > 0 {
		text += fmt.Sprintf(" (and %d more, which nmn doctor lists)", n)
	}
	return text
}
