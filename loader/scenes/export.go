package scenes

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"nmn/format/table"
	"nmn/internal/durable"
	"nmn/internal/parallel"
	"nmn/labels/inject"
	"nmn/loader"
	"nmn/loader/picture"
)

// jpegQuality keeps the stripes and the pixel noise of such small pictures.
const jpegQuality = 95

// The parts of a COCO caption file that are written.
type (
	exportedSet struct {
		Info        exportedInfo      `json:"info"`
		Images      []exportedImage   `json:"images"`
		Annotations []exportedCaption `json:"annotations"`
	}
	exportedInfo struct {
		Description string `json:"description"`
	}
	exportedImage struct {
		ID       int    `json:"id"`
		FileName string `json:"file_name"`
		Width    int    `json:"width"`
		Height   int    `json:"height"`
	}
	exportedCaption struct {
		ID      int    `json:"id"`
		ImageID int    `json:"image_id"`
		Caption string `json:"caption"`
	}
)

var splitInFileName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Write writes a split of the scenes as a data set in the format of COCO captions: pictures
// as JPEG in folder/images, named COCO_<split>2014_000000000001.jpg and so on, and
// folder/captions_<split>2014.json with five captions each. Next to them it writes the words in vocabularyName, and the
// true content of the pictures in truthName with a row for each file. It returns the path of the caption file, which is
// written last.
//
// The words of a caption that are in Vocabulary are exactly the words of Set.Captions. Captions are replaced as in
// noise, unless it is nil.
func Write(ctx context.Context, config Config, noise *inject.Injection, folder string) (captions string, err error) {
	if err := CheckSplitName(config.Split); err != nil {
		return "", err
	}
	set, err := Make(config)
	if err != nil {
		return "", err
	}
	files := make([]string, config.N)
	for i := range files {
		files[i] = FileName(config.Split, i)
	}
	if err := writeTruth(folder, set, files); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(folder, "images"), 0o777); err != nil {
		return "", fmt.Errorf("scenes: cannot make the folder of the pictures: %w", err)
	}
	if err := writeScenePictures(ctx, config, folder); err != nil {
		return "", err
	}
	described := describeScenes(config)
	if noise != nil {
		described.replace(noise)
	}
	data, err := json.Marshal(described)
	if err != nil {
		return "", fmt.Errorf("scenes: captions: %w", err)
	}
	captions = filepath.Join(folder, "captions_"+config.Split+"2014.json")
	if err := durable.WriteFile(captions, data, 0o666); err != nil {
		return "", fmt.Errorf("scenes: cannot write the captions: %w", err)
	}
	return captions, nil
}

// CheckSplitName returns an error if a split cannot be part of the names of files that Write writes.
func CheckSplitName(split string) error {
	if !splitInFileName.MatchString(split) {
		return fmt.Errorf("scenes: Split = %q cannot be part of a file name; use letters, digits, - and _", split)
	}
	return nil
}

// FileName is the name that Write gives to picture i, in the style of COCO, whose ids start
// at 1 here.
func FileName(split string, i int) string {
	return fmt.Sprintf("COCO_%s2014_%012d.jpg", split, i+1)
}

func writeScenePictures(ctx context.Context, config Config, folder string) error {
	config.Cache = false
	source := newScenePictures(config)
	return parallel.Try(ctx, config.N, 0, func(i int) error {
		var pic picture.Picture
		if err := source.Read(ctx, i, 0, &pic); err != nil {
			return err
		}
		data, err := pic.EncodeJPEG(jpegQuality)
		if err == nil {
			err = durable.WriteNew(filepath.Join(folder, "images", FileName(config.Split, i)), data, 0o666)
		}
		if err != nil {
			return fmt.Errorf("scenes: picture %d: %w", i, err)
		}
		return nil
	})
}

// replace replaces captions by captions of other pictures.
func (file *exportedSet) replace(noise *inject.Injection) {
	own := slices.Clone(file.Annotations)
	for _, change := range noise.Changes {
		for _, r := range change.Captions {
			file.Annotations[change.Bag*CaptionsPerPicture+r.Slot].Caption =
				own[r.Donor*CaptionsPerPicture+r.DonorSlot].Caption
		}
	}
}

func describeScenes(config Config) exportedSet {
	file := exportedSet{
		Info:        exportedInfo{Description: fmt.Sprintf("scenes, split %s, seed %d", config.Split, config.Seed)},
		Images:      make([]exportedImage, config.N),
		Annotations: make([]exportedCaption, config.N*CaptionsPerPicture),
	}
	streams := newSceneStreams(config)
	parallel.Each(config.N, func(i int) {
		scene := streams.scene(i)
		file.Images[i] = exportedImage{
			ID:       i + 1,
			FileName: FileName(config.Split, i),
			Width:    pictureSize,
			Height:   pictureSize,
		}
		captions := streams.captions(i, &scene)
		for c := range captions {
			n := i*CaptionsPerPicture + c
			file.Annotations[n] = exportedCaption{ID: n + 1, ImageID: i + 1, Caption: captions[c].String()}
		}
	})
	return file
}

// Files next to the pictures or frames of a split.
const (
	vocabularyName = "vocabulary.txt"
	truthName      = "truth.csv"
)

// writeTruth makes the folder of a split and writes its words and truth, with a row for each of the names.
func writeTruth(folder string, set *loader.Set, names []string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	if err := set.Vocabulary.WriteFile(filepath.Join(folder, vocabularyName)); err != nil {
		return err
	}
	k, truth := set.Vocabulary.Len(), set.Truth.Uint8s()
	row := func(bag int) ([]uint8, error) { return truth[bag*k : (bag+1)*k], nil }
	return table.WriteFile(filepath.Join(folder, truthName), set.Vocabulary.Texts(), names, set.Len(), row)
}
