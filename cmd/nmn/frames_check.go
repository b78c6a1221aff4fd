package main

import (
	"cmp"
	"context"
	"fmt"

	"nmn/loader/shard"
)

// framesChecked is what a look at a folder of frames has found.
type framesChecked struct {
	Output string     `json:"output"`
	Form   shard.Form `json:"form"`
	Clips  int        `json:"clips"`
	Frames int        `json:"frames"`
}

// checkFolder holds index and frames to each other.
func (c *framesCommand) checkFolder(ctx context.Context, p *program) (err error) {
	r, err := shard.Open(c.options.Output)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, r.Close()) }()
	if err := r.Check(ctx); err != nil {
		return err
	}
	return c.tellFolder(p, r)
}

// rebuildIndex makes the index again.
func (c *framesCommand) rebuildIndex(p *program) (err error) {
	if _, err := shard.Rebuild(c.options.Output); err != nil {
		return err
	}
	r, err := shard.Open(c.options.Output)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, r.Close()) }()
	return c.tellFolder(p, r)
}

func (c *framesCommand) tellFolder(p *program, r *shard.Reader) error {
	found := framesChecked{Output: c.options.Output, Form: r.Header().Form, Clips: r.Len()}
	for record, err := range r.Records() {
		if err != nil {
			return err
		}
		found.Frames += len(record.Frames)
	}
	if c.asJSON {
		return writeJSON(p.out, found)
	}
	_, err := fmt.Fprintf(p.out, "%s: %d clips with %d frames, kept as %s, all as the index says\n", found.Output, found.Clips, found.Frames, found.Form)
	return err
}
