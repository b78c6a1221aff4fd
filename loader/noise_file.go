package loader

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"nmn/internal/durable"
)

// The name and version of the format of noise files.
const (
	noiseFormat  = "nmn-noise"
	noiseVersion = 1
)

// maxNoiseLine bounds a line of a noise file: 1,000,000 flipped classes of one bag.
const maxNoiseLine = 8 << 20

// noiseHeader is the first line of a noise file.
type noiseHeader struct {
	Format         string     `json:"format"`
	Version        int        `json:"version"`
	Kind           NoiseKind  `json:"kind"`
	Seed           uint64     `json:"seed,string"` // a string: JSON numbers of other programs end at 2^53
	Replaced       int        `json:"replaced,omitempty"`
	Rates          *FlipRates `json:"rates,omitempty"`
	Set            string     `json:"set"`
	Bags           int        `json:"bags"`
	Classes        int        `json:"classes"`
	CaptionsPerBag int        `json:"captions_per_bag,omitempty"`
	Fingerprint    string     `json:"fingerprint"`
	Changes        int        `json:"changes"` // lines that follow
}

// noiseLine is one of the lines that follow. Captions are triples: slot, donor bag, donor's slot.
type noiseLine struct {
	Bag      *int    `json:"bag"`
	Captions [][]int `json:"captions,omitempty"`
	Flips    []int   `json:"flips,omitempty"`
}

// WriteTo writes the noise as JSON lines. The first holds format "nmn-noise", version 1, kind, seed
// (in decimal, as a string), rates, and what identifies the set; then one line per changed bag:
//
//	{"bag":7,"captions":[[0,812,3],[4,15,1]]}    caption 0 becomes caption 3 of bag 812, ...
//	{"bag":7,"flips":[12,530]}                   labels of classes 12 and 530 are flipped
//
// Bags, captions and classes are counted from 0 in the order of the set (COCO: ascending ids).
func (noise *Noise) WriteTo(w io.Writer) (int64, error) {
	counter := &countingWriter{w: w}
	out := bufio.NewWriter(counter)
	encoder := json.NewEncoder(out)
	header := noiseHeader{
		Format: noiseFormat, Version: noiseVersion, Kind: noise.Kind, Seed: noise.Seed, Replaced: noise.Replaced,
		Set: noise.SetName, Bags: noise.Bags, Classes: noise.Classes, CaptionsPerBag: noise.CaptionsPerBag,
		Fingerprint: noise.Fingerprint, Changes: len(noise.Changes),
	}
	if noise.Kind == FlipNoise {
		header.Rates = &noise.Rates
	}
	if err := encoder.Encode(header); err != nil {
		return counter.n, fmt.Errorf("cannot write the noise: %w", err)
	}
	for _, change := range noise.Changes {
		line := noiseLine{Bag: &change.Bag, Flips: change.Flips}
		for _, r := range change.Captions {
			line.Captions = append(line.Captions, []int{r.Slot, r.Donor, r.DonorSlot})
		}
		if err := encoder.Encode(line); err != nil {
			return counter.n, fmt.Errorf("cannot write the noise: %w", err)
		}
	}
	err := out.Flush()
	return counter.n, err
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// WriteFile writes the noise to a file, compressed when the name ends in .gz. The file appears
// whole or not at all.
func (noise *Noise) WriteFile(path string) error {
	if err := noise.writeFile(path); err != nil {
		return fmt.Errorf("cannot write the noise file %q: %w", path, err)
	}
	return nil
}

func (noise *Noise) writeFile(path string) (err error) {
	file, err := durable.Create(path, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if strings.EqualFold(filepath.Ext(path), ".gz") {
		z := gzip.NewWriter(file)
		if _, err := noise.WriteTo(z); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
	} else if _, err := noise.WriteTo(file); err != nil {
		return err
	}
	return file.Commit()
}

// ReadNoise reads a noise file, plain or .gz, and checks it against the set it is meant for: a file
// made for another set gives ErrOtherSet; a truncated or malformed one gives an error that names
// file and line. All wrap ErrAnnotations.
func ReadNoise(path string, s *Set) (*Noise, error) {
	r, err := OpenText(path)
	if err != nil {
		return nil, fmt.Errorf("noise: %w", err)
	}
	defer r.Close()
	return ParseNoise(path, r, s)
}

// ParseNoise is ReadNoise for a stream of plain JSON lines.
func ParseNoise(name string, r io.Reader, s *Set) (*Noise, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxNoiseLine)
	noise, changes, err := parseNoiseHeader(lines)
	if err != nil {
		return nil, noiseError(name, 1, err)
	}
	if err := noise.checkSet(s); err != nil {
		return nil, fmt.Errorf("noise file %q: %w", name, err)
	}
	for n := 2; lines.Scan(); n++ {
		if len(noise.Changes) == changes {
			return nil, noiseError(name, n, fmt.Errorf("more than the %d changes that the first line announces", changes))
		}
		change, err := parseNoiseLine(lines.Bytes(), noise.Kind)
		if err == nil {
			noise.Changes = append(noise.Changes, change)
			err = noise.checkChange(s, len(noise.Changes)-1, change)
		}
		if err != nil {
			return nil, noiseError(name, n, err)
		}
	}
	if err := scanError(lines); err != nil {
		return nil, noiseError(name, len(noise.Changes)+2, err)
	}
	if len(noise.Changes) < changes {
		return nil, noiseError(name, len(noise.Changes)+1, fmt.Errorf("the file ends after %d of %d changes: it is truncated", len(noise.Changes), changes))
	}
	return noise, nil
}

func noiseError(name string, line int, err error) error {
	return fmt.Errorf("noise file %q, line %d: %w: %w", name, line, err, ErrAnnotations)
}

func scanError(lines *bufio.Scanner) error {
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("longer than %d bytes", maxNoiseLine)
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file is truncated: %w", err)
	} else if err != nil {
		return err
	}
	return nil
}

// parseNoiseHeader reads the first line and returns the number of lines to follow.
func parseNoiseHeader(lines *bufio.Scanner) (*Noise, int, error) {
	if !lines.Scan() {
		if err := scanError(lines); err != nil {
			return nil, 0, err
		}
		return nil, 0, errors.New("the file is empty")
	}
	var h noiseHeader
	if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
		return nil, 0, fmt.Errorf("not the header of a noise file: %w", err)
	}
	switch {
	case h.Format != noiseFormat:
		return nil, 0, fmt.Errorf("format is %q, want %q; nmn noise writes such files", Excerpt(h.Format), noiseFormat)
	case h.Version != noiseVersion:
		return nil, 0, fmt.Errorf("version %d, this program reads %d", h.Version, noiseVersion)
	case h.Kind != CaptionNoise && h.Kind != FlipNoise:
		return nil, 0, fmt.Errorf("unknown kind %q, want %q or %q", Excerpt(string(h.Kind)), CaptionNoise, FlipNoise)
	case h.Bags < 1 || h.Classes < 1 || h.Changes < 0 || h.Changes > h.Bags:
		return nil, 0, fmt.Errorf("%d changes of %d bags and %d classes cannot be", h.Changes, h.Bags, h.Classes)
	}
	noise := &Noise{
		Kind: h.Kind, Seed: h.Seed, Replaced: h.Replaced, SetName: h.Set, Bags: h.Bags, Classes: h.Classes,
		CaptionsPerBag: h.CaptionsPerBag, Fingerprint: h.Fingerprint,
	}
	if h.Rates != nil {
		noise.Rates = *h.Rates
		if err := noise.Rates.Validate(h.Classes); err != nil {
			return nil, 0, err
		}
	}
	return noise, h.Changes, nil
}

// parseNoiseLine reads the changes of one bag.
func parseNoiseLine(b []byte, kind NoiseKind) (BagNoise, error) {
	var line noiseLine
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&line); err != nil {
		return BagNoise{}, fmt.Errorf("not a change of a bag: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return BagNoise{}, errors.New("something follows the change of the bag")
	}
	if line.Bag == nil {
		return BagNoise{}, errors.New("\"bag\" is missing")
	}
	if (kind == CaptionNoise) != (len(line.Captions) > 0) || (kind == FlipNoise) != (len(line.Flips) > 0) {
		return BagNoise{}, fmt.Errorf("bag %d: noise of kind %q wants \"%s\" and nothing else", *line.Bag, kind, kind)
	}
	change := BagNoise{Bag: *line.Bag, Flips: line.Flips}
	for _, c := range line.Captions {
		if len(c) != 3 {
			return BagNoise{}, fmt.Errorf("bag %d: a replaced caption is %v, want [slot, donor, donor's slot]", *line.Bag, c)
		}
		change.Captions = append(change.Captions, Replacement{Slot: c[0], Donor: c[1], DonorSlot: c[2]})
	}
	return change, nil
}
