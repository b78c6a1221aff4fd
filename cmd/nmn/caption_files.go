package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nmn/captioning"
	"nmn/eval/caption"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/loader/annotation"
	"nmn/loader/dataset"
)

// clipFiles name features of clips and captions of people.
type clipFiles struct {
	Features string `yaml:"features"`
	Array    string `yaml:"array,omitempty"`
	Clips    string `yaml:"clips"`
	IDs      string `yaml:"ids"`
	PerRow   int    `yaml:"frames_per_row"`
	Captions string `yaml:"captions"`
	Split    string `yaml:"split"` // of MSR-VTT's annotations
}

// featureEndings are those of files of features.
var featureEndings = []string{"npy", "npz", "safetensors", "csv", "parquet"}

// featureFlags declare what names features; prefix tells those of one split from another.
func (f *clipFiles) featureFlags(r group, prefix, of string) {
	r.file(&f.Features, prefix+"features", "`file` of features"+of+", as nmn extract writes it: a row for each frame, or for each clip", featureEndings...)
	r.file(&f.Clips, prefix+"clips", "`file` of the rows of each clip, as nmn extract --per-frame --output-clips writes it", "csv")
	r.file(&f.IDs, prefix+"ids", "`file` of identifiers where each row is a clip, a line each", "txt")
	r.int(&f.PerRow, prefix+"frames-per-row", "`frames` that a row has behind each other, where each row is a clip")
}

// captionFlags declare what names captions.
func (f *clipFiles) captionFlags(r group, prefix, of string) {
	r.file(&f.Captions, prefix+"captions", "`file` of captions"+of+": MSR-VTT's annotations (zip too), COCO captions, an object of lists, JSON lines or CSV", "json", "jsonl", "csv", "zip", "gz")
	enum(r, &f.Split, prefix+"split", "MSR-VTT: `clips` whose captions count", loader.TrainSplit, loader.ValidationSplit, loader.TestSplit)
}

// open opens the features. Close the file.
func (f *clipFiles) open() (*captioning.FrameFile, error) {
	o := captioning.FrameFiles{Features: f.Features, Array: f.Array, Clips: f.Clips, PerRow: f.PerRow}
	if f.IDs != "" {
		var err error
		if o.IDs, err = loader.ReadIDs(f.IDs); err != nil {
			return nil, err
		}
	}
	return captioning.OpenFrames(o)
}

// readClipCaptions reads captions of any form; split chooses among those of MSR-VTT.
func readClipCaptions(path, split string) (_ *caption.Captions, err error) {
	msrvtt, err := annotation.IsMSRVTT(path)
	switch {
	case err != nil:
		return nil, err
	case msrvtt:
		return readMSRVTTCaptions(path, split)
	case strings.EqualFold(filepath.Ext(path), ".gz"):
		return nil, fmt.Errorf("captions %q: only those of MSR-VTT may be compressed: unpack the file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return caption.Read(filepath.Base(path), f)
}

func readMSRVTTCaptions(path, split string) (*caption.Captions, error) {
	m, err := annotation.ReadMSRVTT(path)
	if err != nil {
		return nil, err
	}
	c := &caption.Captions{Of: map[string][]string{}}
	for i := range m.Clips {
		clip := &m.Clips[i]
		if split != "" && clip.Split != split {
			continue
		}
		c.IDs = append(c.IDs, clip.ID)
		for _, s := range clip.Sentences {
			c.Of[clip.ID] = append(c.Of[clip.ID], s.Text)
		}
	}
	if len(c.IDs) == 0 {
		return nil, fmt.Errorf("captions %q: no clip is of the split %s", path, split)
	}
	return c, nil
}

// heldOut chooses a share of clips by a seeded order that depends on the identifiers alone.
func heldOut(ids []string, share float64, seed uint64) map[string]bool {
	held := map[string]bool{}
	for _, i := range dataset.ShuffledByID(ids, rng.Derive(seed, "held-out clips"))[:int(math.Round(share*float64(len(ids))))] {
		held[ids[i]] = true
	}
	return held
}

// joinTold joins features and captions and tells what was left out.
func joinTold(p *program, what string, f captioning.FrameFeatures, c *caption.Captions, w *captioning.Words, o captioning.JoinOptions) (*captioning.Set, error) {
	set, err := captioning.Join(f, c, w, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if left := set.Left.String(); left != "" && !p.quiet {
		fmt.Fprintf(p.status, "%s: left out: %s\n", what, left)
	}
	return set, nil
}

// needFiles says which of the flags that name clips are missing.
func needFiles(cmd *cobra.Command, flags ...string) error {
	var missing []string
	for _, flag := range flags {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Value.String() == "" {
			missing = append(missing, "--"+flag)
		}
	}
	if len(missing) > 0 {
		return usagef("%s: give %s", strings.TrimPrefix(cmd.CommandPath(), "nmn "), strings.Join(missing, " and "))
	}
	return nil
}
