package shard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Names of files.
const (
	IndexName   = "index.jsonl"
	offsetsName = "index.offsets"
)

func shardName(n int) string { return fmt.Sprintf("frames-%06d.tar", n) }

var shardPattern = regexp.MustCompile(`^frames-(\d{6}|[1-9]\d{6,8})\.tar$`)

func isShard(name string) bool { return shardPattern.MatchString(name) }

// Header is the first line of an index.
type Header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Settings is whatever the maker of the frames wants to find again: an object of JSON.
	Settings json.RawMessage `json:"settings,omitempty"`
	// Form is in indexes of earlier versions, which also kept frames as pictures. It is not written.
	Form string `json:"form,omitempty"`
}

const (
	formatName = "nmn-frames"
	version    = 1
)

func newHeader(settings json.RawMessage) (Header, error) {
	h := Header{Format: formatName, Version: version}
	if len(settings) > 0 {
		var b bytes.Buffer
		if err := json.Compact(&b, settings); err != nil {
			return h, fmt.Errorf("shard: settings of the index: %w", err)
		}
		h.Settings = b.Bytes()
	}
	return h, nil
}

// line is the header as it is written.
func (h Header) line() ([]byte, error) {
	b, err := json.Marshal(h)
	return append(b, '\n'), err
}

func parseHeader(line []byte) (Header, error) {
	var h Header
	if err := json.Unmarshal(line, &h); err != nil {
		return h, faultf("the first line is not that of an index of frames: %v", err)
	}
	switch {
	case h.Format != formatName:
		return h, faultf("the first line has the format %.40q, want %q", h.Format, formatName)
	case h.Version != version:
		return h, faultf("version %d of the index, this nmn reads version %d: use the nmn that made it, or make the "+
			"frames again", h.Version, version)
	case h.Form != "" && h.Form != "shards":
		return h, faultf("frames are in folders of pictures, which this nmn does not read: make them again (nmn frames)")
	}
	h.Form = ""
	return h, nil
}

func parseRecord(line []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return r, faultf("not a line of an index of frames: %v", err)
	}
	return r, r.check()
}

// maxName bounds the name of a clip, in bytes: the longest path of Linux.
const maxName = 4096

// Key makes the key of a clip from its name. Letters, digits, - and _ of ASCII stay, every other byte
// becomes % and two hexadecimal digits, as in URLs, whose decoders give the name back: a key has neither
// dots, where readers of WebDataset end it, nor slashes, and two names never share one.
func Key(clip string) string {
	var b strings.Builder
	for i := range len(clip) {
		if c := clip[i]; plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// CheckName returns why a clip of this name cannot be stored.
func CheckName(clip string) error {
	switch {
	case clip == "":
		return faultf("a clip without a name")
	case len(clip) > maxName:
		return faultf("the name of a clip has %d bytes, at most %d", len(clip), maxName)
	case !utf8.ValidString(clip):
		return faultf("the name of the clip %q is not UTF-8: rename it", clip)
	}
	return nil
}

// pictureName is the name of frame i of n, without the key: 00.jpg, with as many digits as the last
// one needs.
func pictureName(i, n int) string {
	return fmt.Sprintf("%0*d.jpg", max(2, len(strconv.Itoa(n-1))), i)
}
