package captioner

import (
	"context"

	"nmn/captioning"
	"nmn/loader"
)

// ClipFiles name features of clips and captions of people.
type ClipFiles struct {
	Features string `yaml:"features"`        // a row for each frame, or for each clip
	Array    string `yaml:"array,omitempty"` // in files of several
	Clips    string `yaml:"clips"`           // table of the rows of each clip; empty where each row is a clip
	IDs      string `yaml:"ids"`             // file of identifiers, where each row is a clip
	PerRow   int    `yaml:"frames_per_row"`  // frames that a row has behind each other, where each row is a clip
	Captions string `yaml:"captions"`
	Split    string `yaml:"split"` // of MSR-VTT's annotations
}

// Open opens the features. Close the file.
func (f *ClipFiles) Open(ctx context.Context) (*captioning.FrameFile, error) {
	o := captioning.FrameFiles{Features: f.Features, Array: f.Array, Clips: f.Clips, PerRow: f.PerRow}
	if f.IDs != "" {
		var err error
		if o.IDs, err = loader.ReadIDs(ctx, f.IDs); err != nil {
			return nil, err
		}
	}
	return captioning.OpenFrames(ctx, o)
}
