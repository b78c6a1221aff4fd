package shard

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

const tarBlock = 512

// tarWriter writes samples to a tar and tracks its position.
type tarWriter struct {
	out   io.Writer
	tar   *tar.Writer
	bytes int64
}

func newTarWriter(out io.Writer) *tarWriter {
	t := &tarWriter{out: out}
	t.tar = tar.NewWriter(t)
	return t
}

// Write forwards the bytes of the tar.
func (t *tarWriter) Write(p []byte) (int, error) {
	n, err := t.out.Write(p)
	t.bytes += int64(n)
	return n, err
}

// add writes the members of a clip, and sets where its frames lie.
func (t *tarWriter) add(r *Record, pictures [][]byte) error {
	for i, picture := range pictures {
		if err := t.member(r.Key+"."+pictureName(i, len(pictures)), picture, &r.Frames[i].Offset); err != nil {
			return err
		}
	}
	text, err := r.member()
	if err != nil {
		return err
	}
	var at int64
	return t.member(r.Key+".json", text, &at)
}

func (t *tarWriter) member(name string, content []byte, offset *int64) error {
	err := t.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content))})
	*offset = t.bytes
	if err == nil {
		_, err = t.tar.Write(content)
	}
	return err
}

// member returns a shard's description of its clip: everything except the location, so that members can be
// moved.
func (r *Record) member() ([]byte, error) {
	c := *r
	c.Key, c.Shard = "", ""
	c.Frames = append([]Frame(nil), r.Frames...)
	for i := range c.Frames {
		c.Frames[i].Offset = 0
	}
	return json.Marshal(c)
}

// tarBytes bounds the size of a clip in a shard: each member has a header, and a long name needs two blocks
// and its own length again.
func tarBytes(r *Record) int64 {
	n := int64(0)
	for _, f := range r.Frames {
		n += 4*tarBlock + int64(len(r.Key)) + f.Size
	}
	return n + 8*tarBlock
}

// walkTar reads the headers of a shard and the descriptions of its clips, skipping the pictures, and calls
// visit with the record of each.
func walkTar(file io.ReadSeeker, name string, visit func(Record) error) error {
	w := tarWalk{file: file, tar: tar.NewReader(file), shard: name}
	for {
		head, err := w.tar.Next()
		if err == io.EOF {
			return w.wrap(w.finish())
		}
		if err != nil {
			return w.wrap(cutOrBroken(err))
		}
		r, err := w.member(head)
		if err != nil {
			return w.wrap(err)
		}
		if r == nil {
			continue
		}
		if err := visit(*r); err != nil {
			return err
		}
	}
}

// tarWalk is where walkTar stands.
type tarWalk struct {
	file  io.ReadSeeker
	tar   *tar.Reader
	shard string
	at    int64 // first byte of the member's content
	end   int64 // byte after its last block
	// The clip whose members are being read: its key, the names of its pictures without the key, their
	// frames.
	key    string
	names  []string
	frames []Frame
}

// member takes a member in, and returns a record when it is the last one of a clip.
func (w *tarWalk) member(head *tar.Header) (*Record, error) {
	var err error
	if w.at, err = w.file.Seek(0, io.SeekCurrent); err != nil {
		return nil, err
	}
	if head.Typeflag != tar.TypeReg || head.Size < 0 || head.PAXRecords["GNU.sparse.major"] != "" ||
		head.PAXRecords["GNU.sparse.map"] != "" {
		return nil, faultf("the member %.200q is not a plain file", head.Name)
	}
	w.end = w.at + (head.Size+tarBlock-1)/tarBlock*tarBlock
	key, rest, dotted := strings.Cut(head.Name, ".")
	if !dotted || path.Base(key) != key {
		return nil, faultf("the member %.200q is not named KEY.NN.jpg or KEY.json", head.Name)
	}
	if w.key == "" {
		w.key = key
	}
	if key != w.key {
		return nil, faultf("the member %.200q precedes %.200q, which ends the previous clip", head.Name, w.key+".json")
	}
	if rest == "json" {
		return w.record(head.Size)
	}
	if len(w.names) == maxFrames {
		return nil, faultf("the clip of key %.200q has more than %d frames", key, maxFrames)
	}
	w.names = append(w.names, rest)
	w.frames = append(w.frames, Frame{Offset: w.at, Size: head.Size})
	return nil, nil
}

// record completes a clip from its last member.
func (w *tarWalk) record(size int64) (*Record, error) {
	if size > maxLine {
		return nil, faultf("the member %.200q has %d bytes, at most %d", w.key+".json", size, maxLine)
	}
	var text bytes.Buffer
	if _, err := io.Copy(&text, w.tar); err != nil {
		return nil, cutOrBroken(err)
	}
	var r Record
	if err := json.Unmarshal(text.Bytes(), &r); err != nil {
		return nil, faultf("the member %.200q: %v", w.key+".json", err)
	}
	if len(r.Frames) != len(w.frames) {
		return nil, faultf("the member %.200q lists %d frames, but there are %d", w.key+".json", len(r.Frames), len(w.frames))
	}
	for i, f := range w.frames {
		if want := pictureName(i, len(w.frames)); w.names[i] != want {
			return nil, faultf("the member %.200q is not %.200q", w.key+"."+w.names[i], w.key+"."+want)
		}
		if r.Frames[i].Size != f.Size {
			return nil, faultf("the member %.200q has %d bytes, but %.200q gives %d",
				w.key+"."+w.names[i], f.Size, w.key+".json", r.Frames[i].Size)
		}
		r.Frames[i].Offset = f.Offset
	}
	r.Key, r.Shard = w.key, w.shard
	if err := r.check(); err != nil {
		return nil, err
	}
	w.key, w.names, w.frames = "", w.names[:0], w.frames[:0]
	return &r, nil
}

// finish looks at how the shard ends: with a whole clip and two blocks of zeros.
func (w *tarWalk) finish() error {
	if w.key != "" {
		return faultf("it ends in the midst of the clip of key %.200q", w.key)
	}
	at, err := w.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if at < w.end+2*tarBlock {
		return faultf("it is cut short: no blocks of zeros end it")
	}
	return nil
}

func (w *tarWalk) wrap(err error) error {
	if err == nil {
		return nil
	}
	help := ""
	if errors.Is(err, ErrFormat) {
		help = "; take the shard away, then `shard.rebuild_index`, and nmn frames makes its clips again"
	}
	return fmt.Errorf("shard: %s, byte %d: %w%s", w.shard, w.at, err, help)
}

// cutOrBroken marks errors of package tar about the content.
func cutOrBroken(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return faultf("it is cut short")
	case errors.Is(err, tar.ErrHeader), errors.Is(err, tar.ErrFieldTooLong):
		return faultf("not a tar: %v", err)
	}
	return err
}
