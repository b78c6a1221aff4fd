package inject

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"nmn/internal/setting"
	"nmn/labels"
	"nmn/loader"
)

// The name and version of the format of noise files.
const (
	fileFormat  = "nmn-noise"
	fileVersion = 1
)

// maxLine bounds a line of a noise file: 1,000,000 flipped classes of one bag.
const maxLine = 8 << 20

// The kinds of noise in the first line of noise files. Replaced captions have one kind, however they were
// drawn, so that other versions of the program can apply them.
const (
	captionsInFile = "captions"
	flipsInFile    = "flips"
)

// inFile returns the kind in the first line of noise files.
func (k Kind) inFile() string {
	if k.replaces() {
		return captionsInFile
	}
	return string(k)
}

// fileHeader is the first line of a noise file.
type fileHeader struct {
	Format            string        `json:"format"`
	Version           int           `json:"version"`
	Kind              string        `json:"kind"`
	Drawn             Kind          `json:"drawn,omitzero"`     // how captions were drawn
	Seed              uint64        `json:"seed,string"`        // a string: JSON numbers of other programs end at 2^53
	Replaced          int           `json:"replaced,omitempty"` // captions of each bag; for kinds with whole captions
	Share             float64       `json:"share,omitempty"`    // for the others
	Rates             *labels.Rates `json:"rates,omitempty"`
	Set               string        `json:"set"`
	Bags              int           `json:"samples"`
	Classes           int           `json:"classes"`
	CaptionsPerSample int           `json:"captions_per_sample,omitempty"`
	Fingerprint       string        `json:"fingerprint"`
	Changes           int           `json:"changes"` // lines that follow
}

// fileLine is one of the lines that follow. Captions are triples: slot, donor bag, donor's slot.
type fileLine struct {
	Bag      *int    `json:"sample"`
	Captions [][]int `json:"captions,omitempty"`
	Flips    []int   `json:"flips,omitempty"`
}

// write writes the noise as JSON lines. The first holds format "nmn-noise", version 1, kind, seed
// (in decimal, as a string), rates, and what identifies the set; then one line per changed bag:
//
//	{"sample":7,"captions":[[0,812,3],[4,15,1]]}    caption 0 becomes caption 3 of sample 812, ...
//	{"sample":7,"flips":[12,530]}                   labels of classes 12 and 530 are flipped
//
// Bags, captions and classes are counted from 0 in the order of the set (COCO: ascending ids).
func (noise *Injection) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	header := fileHeader{
		Format: fileFormat, Version: fileVersion, Kind: noise.Kind.inFile(), Seed: noise.Seed,
		Set: noise.SetName, Bags: noise.Bags, Classes: noise.Classes, CaptionsPerSample: noise.CaptionsPerSample,
		Fingerprint: noise.Fingerprint, Changes: len(noise.Changes),
	}
	switch {
	case noise.Kind == Flips:
		header.Rates = &noise.Rates
	case noise.Kind.whole():
		header.Drawn = noise.Kind
		header.Replaced = int(math.Round(noise.Share * float64(noise.CaptionsPerSample)))
	default:
		header.Drawn, header.Share = noise.Kind, noise.Share
	}
	if err := encoder.Encode(header); err != nil {
		return err
	}
	for _, change := range noise.Changes {
		line := fileLine{Bag: &change.Bag, Flips: change.Flips}
		for _, r := range change.Captions {
			line.Captions = append(line.Captions, []int{r.Slot, r.Donor, r.DonorSlot})
		}
		if err := encoder.Encode(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// WriteFile writes the noise to a file, compressed when the name ends in .gz. The file appears
// whole or not at all.
func (noise *Injection) WriteFile(path string) error { return loader.WriteText(path, noise.write) }

// Read reads a noise file, plain or .gz, and checks it against the set it is meant for: a file
// made for another set gives ErrOtherSet; a truncated or malformed one gives an error that names
// file and line. All wrap ErrAnnotations.
func Read(ctx context.Context, path string, s *loader.Set) (*Injection, error) {
	r, err := loader.OpenText(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("noise: %w", err)
	}
	defer r.Close()
	return parse(path, r, s)
}

// parse is Read for a stream of plain JSON lines.
func parse(name string, r io.Reader, s *loader.Set) (*Injection, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	noise, changes, err := parseHeader(lines)
	if err != nil {
		return nil, lineError(name, 1, err)
	}
	if err := noise.checkSet(s); err != nil {
		return nil, fmt.Errorf("noise file %q: %w", name, err)
	}
	for n := 2; lines.Scan(); n++ {
		if len(noise.Changes) == changes {
			return nil, lineError(name, n, fmt.Errorf("more than the %d changes that the first line announces",
				changes))
		}
		change, err := parseLine(lines.Bytes(), noise.Kind.inFile())
		if err == nil {
			noise.Changes = append(noise.Changes, change)
			err = noise.checkChange(s, len(noise.Changes)-1, change)
		}
		if err != nil {
			return nil, lineError(name, n, err)
		}
	}
	if err := scanError(lines); err != nil {
		return nil, lineError(name, len(noise.Changes)+2, err)
	}
	if len(noise.Changes) < changes {
		return nil, lineError(name, len(noise.Changes)+1,
			fmt.Errorf("the file ends after %d of %d changes: it is truncated", len(noise.Changes), changes))
	}
	return noise, nil
}

func lineError(name string, line int, err error) error {
	return loader.Unusable(fmt.Errorf("noise file %q, line %d: %w", name, line, err))
}

func scanError(lines *bufio.Scanner) error {
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("longer than %d bytes", maxLine)
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file is truncated: %w", err)
	} else if err != nil {
		return err
	}
	return nil
}

// parseHeader reads the first line and returns the number of lines to follow.
func parseHeader(lines *bufio.Scanner) (*Injection, int, error) {
	if !lines.Scan() {
		if err := scanError(lines); err != nil {
			return nil, 0, err
		}
		return nil, 0, errors.New("the file is empty")
	}
	var h fileHeader
	if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
		return nil, 0, fmt.Errorf("not the header of a noise file: %w", err)
	}
	switch {
	case h.Format != fileFormat:
		return nil, 0, fmt.Errorf("format is %q, want %q; nmn noise writes such files",
			loader.Excerpt(h.Format), fileFormat)
	case h.Version != fileVersion:
		return nil, 0, fmt.Errorf("version %d, this program reads %d", h.Version, fileVersion)
	case h.Kind != captionsInFile && h.Kind != flipsInFile:
		return nil, 0, fmt.Errorf("unknown kind %q, want %q or %q", loader.Excerpt(h.Kind), captionsInFile, flipsInFile)
	case h.Bags < 1 || h.Classes < 1 || h.Changes < 0 || h.Changes > h.Bags:
		return nil, 0, fmt.Errorf("%d changes of %d samples and %d classes cannot be", h.Changes, h.Bags, h.Classes)
	}
	kind, share, err := h.drawn()
	if err != nil {
		return nil, 0, err
	}
	noise := &Injection{
		Kind: kind, Seed: h.Seed, Share: share, SetName: h.Set, Bags: h.Bags, Classes: h.Classes,
		CaptionsPerSample: h.CaptionsPerSample, Fingerprint: h.Fingerprint,
	}
	if h.Rates != nil {
		noise.Rates = *h.Rates
		if err := checkFlipRates(noise.Rates, h.Classes); err != nil {
			return nil, 0, err
		}
	}
	return noise, h.Changes, nil
}

func (h *fileHeader) drawn() (Kind, float64, error) {
	if h.Kind == flipsInFile {
		return Flips, 0, nil
	}
	kind, share := cmp.Or(h.Drawn, Uniform), h.Share
	if !kind.replaces() {
		return "", 0, fmt.Errorf("captions are drawn in the unknown way %q, want %s", loader.Excerpt(string(kind)),
			setting.Alternatives(CaptionKinds()))
	}
	if kind.whole() {
		share = float64(h.Replaced) / float64(max(h.CaptionsPerSample, 1))
	}
	if !(share >= 0 && share <= 1) {
		return "", 0, fmt.Errorf("a share of %g of the captions cannot be replaced, want 0 to 1", share)
	}
	return kind, share, nil
}

func parseLine(b []byte, kind string) (BagChanges, error) {
	var line fileLine
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&line); err != nil {
		return BagChanges{}, fmt.Errorf("not a change of a sample: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return BagChanges{}, errors.New("something follows the change of the sample")
	}
	if line.Bag == nil {
		return BagChanges{}, errors.New("\"sample\" is missing")
	}
	if (kind == captionsInFile) != (len(line.Captions) > 0) || (kind == flipsInFile) != (len(line.Flips) > 0) {
		return BagChanges{}, fmt.Errorf("sample %d: noise of kind %q wants \"%s\" and nothing else", *line.Bag, kind, kind)
	}
	change := BagChanges{Bag: *line.Bag, Flips: line.Flips}
	for _, c := range line.Captions {
		if len(c) != 3 {
			return BagChanges{}, fmt.Errorf("sample %d: a replaced caption is %v, want [slot, donor, donor's slot]",
				*line.Bag, c)
		}
		change.Captions = append(change.Captions, Replacement{Slot: c[0], Donor: c[1], DonorSlot: c[2]})
	}
	return change, nil
}
