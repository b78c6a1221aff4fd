package session

import (
	"context"

	"nmn/captioner"
	"nmn/loader"
)

// ClipFiles names features of clips and reference captions.
type ClipFiles struct {
	Features string `yaml:"features" help:"<file> of features, written by nmn extract: a row for each frame or for each clip"`
	Array    string `yaml:"array,omitempty" help:"<name> of the array in .npz and .safetensors files; empty if it is the only one"`
	Clips    string `yaml:"clips" help:"<file> with the rows of each clip, written by nmn extract"`
	IDs      string `yaml:"ids" help:"<file> of identifiers, a line for each row, if each row is a clip"`
	PerRow   int    `yaml:"frames_per_row" help:"<frames> in a row, if each row is a clip"`
	Captions string `yaml:"captions" help:"<file> of captions: MSR-VTT annotations (zip too), COCO captions, lists, JSON lines or CSV"`
	Split    string `yaml:"split" help:"MSR-VTT: use the captions of this <split>"`
}

// Open opens the features. Close the file.
func (f *ClipFiles) Open(ctx context.Context) (*captioner.FrameFile, error) {
	o := captioner.FrameFiles{Features: f.Features, Array: f.Array, Clips: f.Clips, PerRow: f.PerRow}
	if f.IDs != "" {
		var err error
		if o.IDs, err = loader.ReadIDs(ctx, f.IDs); err != nil {
			return nil, err
		}
	}
	return captioner.OpenFrames(ctx, o)
}
