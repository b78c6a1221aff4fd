package dataset

import (
	"context"
	"errors"
	"log/slog"

	"nmn/loader/manifest"
	"nmn/text"
)

// ReadManifest reads the manifest of a configuration again, to write it with other labels. The result holds
// the folder of its pictures.
func ReadManifest(ctx context.Context, c *Config, o Options) (*manifest.Manifest, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Splits{options: o, sources: &sources{}}
	var known *text.Vocabulary
	if c.Vocabulary != "" {
		var err error
		if known, err = manifestWords(c); err != nil {
			return nil, err
		}
	}
	m, clips, err := d.readManifest(ctx, c, known)
	if clips != nil {
		err = errors.Join(err, clips.Close())
	}
	return m, err
}
