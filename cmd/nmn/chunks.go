package main

import (
	"fmt"
	"nmn/model"
	"nmn/run"
)

// tellChunks prints what a batch of the longest videos takes in maps and gradients, whole and in chunks of
// fewer frames; nothing of pictures.
func tellChunks(p *program, c *run.Config, longest int, net *model.Net) error {
	if longest < 2 {
		return nil
	}
	bags := c.Train.Batch(net.Config().MIL)
	mib := func(chunk int) float64 { return float64(net.ChunkBytes(longest*bags, bags, chunk, true)) / (1 << 20) }
	line := fmt.Sprintf("maps of %d frames: %.0f MiB", longest*bags, mib(longest*bags))
	for chunk := (longest*bags + 1) / 2; chunk > 0 && chunk >= longest*bags/8; chunk /= 2 {
		line += fmt.Sprintf(", with --chunk-frames %d %.0f MiB", chunk, mib(chunk))
	}
	_, err := fmt.Fprintf(p.out, "            %s\n", line)
	return err
}
