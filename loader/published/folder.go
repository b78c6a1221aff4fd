package published

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"nmn/internal/origin"
	"nmn/internal/visible"
	"nmn/loader/annotation"
	"nmn/loader/doctor"
)

// Folder describes what was found of a data set. Paths are empty if nothing was found.
type Folder struct {
	Set string `json:"set"` // "coco" or "msrvtt"
	Dir string `json:"dir"`

	// COCO: captions and pictures of both halves.
	TrainCaptions string `json:"train_captions,omitempty"`
	ValCaptions   string `json:"val_captions,omitempty"`
	TrainImages   string `json:"train_images,omitempty"`
	ValImages     string `json:"val_images,omitempty"`
	// Words is the vocabulary of 1,000 words of Fang et al. (2015), which is no part of COCO.
	Words string `json:"words,omitempty"`

	// MSR-VTT: annotations of the train and validate clips, annotations of the test clips, and the folders of
	// clips or of frames.
	Annotations     string `json:"annotations,omitempty"`
	TestAnnotations string `json:"test_annotations,omitempty"`
	Clips           string `json:"clips,omitempty"`
	Frames          string `json:"frames,omitempty"` // as nmn frames writes them

	Files    []File           `json:"files"`
	Counts   []Count          `json:"counts"`
	Findings []doctor.Finding `json:"findings"`
}

// File is a file of annotations with its digest, which later identifies the exact file.
type File struct {
	Path   string `json:"path"` // from the folder, with slashes
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Published is the digest of the file as published; empty if unknown.
	Published string `json:"published,omitempty"`
}

// Count is a number of items, and the expected number; 0 if unknown.
type Count struct {
	What  string `json:"what"`
	Found int    `json:"found"`
	Want  int    `json:"want,omitempty"`
}

// Errors is how many findings would stop the protocol of the paper.
func (f *Folder) Errors() int { return doctor.Count(f.Findings, doctor.Error) }

func (f *Folder) add(w doctor.Weight, kind, text, cure string, examples ...string) {
	f.Findings = append(f.Findings, doctor.Finding{Weight: w, Kind: kind, Text: text, Cure: cure, Examples: examples})
}

// list adds a finding about names, as what says, if there are any.
func (f *Folder) list(w doctor.Weight, kind, what, cure string, names []string) {
	if len(names) > 0 {
		f.add(w, kind, fmt.Sprintf("%s: %d, first %s", what, len(names), names[0]), cure, names[:min(len(names), 5)]...)
	}
}

// count keeps a number, and reports whether it is the one that should be.
func (f *Folder) count(what string, found, want int) bool {
	f.Counts = append(f.Counts, Count{what, found, want})
	return want == 0 || found == want
}

// open begins a check of a folder; ok is false if it does not exist, which is a finding.
func open(set, dir, wants string) (f *Folder, ok bool) {
	f = &Folder{Set: set, Dir: dir, Files: []File{}, Counts: []Count{}, Findings: []doctor.Finding{}}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.add(doctor.Error, "no-folder", fmt.Sprintf("there is no folder %q", dir), "give the folder that holds "+wants)
	case err != nil:
		f.add(doctor.Error, "no-folder", fmt.Sprintf("%q cannot be read: %v", dir, cause(err)),
			"see to its permissions, or give another folder")
	case !info.IsDir():
		f.add(doctor.Error, "no-folder", fmt.Sprintf("%q is a file", dir), "give the folder that holds "+wants)
	default:
		return f, true
	}
	return f, false
}

// cause is an error without the path, which the message around it has.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// first returns the first of some paths in the folder that exists and has the requested type; empty if there is none.
func (f *Folder) first(directory bool, names ...string) string {
	for _, name := range names {
		path := filepath.Join(f.Dir, filepath.FromSlash(name))
		if info, err := os.Stat(path); err == nil && info.IsDir() == directory && (directory || info.Mode().IsRegular()) {
			return path
		}
	}
	return ""
}

// below returns a path relative to the folder, for display.
func (f *Folder) below(path string) string {
	if inner, err := filepath.Rel(f.Dir, path); err == nil {
		return filepath.ToSlash(inner)
	}
	return path
}

// digest adds a file with its digest, and compares it with the published one if that is known.
func (f *Folder) digest(ctx context.Context, path, known string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	sum, err := origin.Digest(ctx, path)
	if err != nil {
		return err
	}
	f.Files = append(f.Files, File{Path: f.below(path), Bytes: info.Size(), SHA256: sum, Published: known})
	if known != "" && sum != known {
		f.add(doctor.Warning, "digest", fmt.Sprintf("%s has the SHA-256 %s, and was published with %s", f.below(path), sum,
			known), "compare it with the published file; the counts say whether something else is different")
	}
	return nil
}

// elsewhere finds out whether another folder than this one was meant: its parent, if the folder has one of the names of
// parts, or a folder in it. It adds a finding if this folder does not hold the set itself.
func (f *Folder) elsewhere(set string, holds func(dir string) bool, parts []string, absent, cure string) bool {
	dir, err := filepath.Abs(f.Dir)
	switch parent := filepath.Dir(dir); {
	case err == nil && slices.Contains(parts, filepath.Base(dir)) && holds(parent):
		absent, cure = "is only a part of "+set, fmt.Sprintf("give its parent, %q", parent)
	case holds(f.Dir):
		return false
	default:
		if inner := nested(f.Dir, holds); inner != "" {
			absent, cure = "does not hold "+set+" itself", fmt.Sprintf("give %q", inner)
		}
	}
	f.add(doctor.Error, "wrong-folder", fmt.Sprintf("%q ", f.Dir)+absent, cure)
	return true
}

// unreadable makes a finding of an error of a file of annotations, unless the look was interrupted.
func (f *Folder) unreadable(ctx context.Context, file string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	line := strings.ReplaceAll(err.Error(), "\n", " ")
	f.add(doctor.Error, "unreadable-annotations", f.below(file)+" cannot be used: "+line,
		"fetch and unpack it again: a copy that was cut short ends in the middle of the file")
	return nil
}

// read digests and reads a file of annotations; nil if it is unusable, which is a finding.
func (f *Folder) read(ctx context.Context, file, digest string, form annotation.Form) (*annotation.Bags, error) {
	err := f.digest(ctx, file, digest)
	if err == nil {
		var bags *annotation.Bags
		if bags, err = annotation.ReadForm(ctx, file, form); err == nil {
			return bags, nil
		}
	}
	return nil, f.unreadable(ctx, file, err)
}

// names lists a folder of pictures or clips, which is the noun of findings; nil if it cannot be read.
func (f *Folder) names(ctx context.Context, dir, noun string) (map[string]int64, error) {
	names, err := sizes(ctx, dir)
	if err != nil && ctx.Err() == nil {
		f.add(doctor.Error, "missing-"+noun, fmt.Sprintf("%s cannot be read: %v", f.below(dir), cause(err)),
			"see to its permissions")
		return nil, nil
	}
	return names, err
}

// wanted are the pictures or clips that annotations name.
type wanted struct {
	noun   string // pictures or clips
	place  string // whose they are, or where they should be, for findings
	counts string // what is counted
	weight doctor.Weight
	cure   string
}

// present counts the names whose files are there, and adds findings about missing and empty files. sizes are the sizes
// of the files that are there, negative for folders.
func (f *Folder) present(w wanted, names []string, sizes map[string]int64) {
	var missing, empty []string
	for _, name := range names {
		switch size, ok := sizes[name]; {
		case !ok || size < 0:
			missing = append(missing, name)
		case size == 0:
			empty = append(empty, name)
		}
	}
	f.count(w.counts, len(names)-len(missing)-len(empty), len(names))
	f.list(w.weight, "missing-"+w.noun, fmt.Sprintf("%s %s that are missing", w.noun, w.place), w.cure, missing)
	f.list(w.weight, "empty-"+w.noun, fmt.Sprintf("%s %s that are empty files", w.noun, w.place), w.cure+" again", empty)
}

// nested is a folder one level below that has what was looked for, for a folder that is the parent of the right one.
func nested(dir string, holds func(dir string) bool) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if inner := filepath.Join(dir, e.Name()); e.IsDir() && holds(inner) {
			return inner
		}
	}
	return ""
}

// sizes are the names of a folder, each with its size; sizes of folders are -1.
func sizes(ctx context.Context, dir string) (map[string]int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	all := make(map[string]int64, len(entries))
	for i, e := range entries {
		if i%1000 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		size := int64(-1)
		if !e.IsDir() {
			info, err := os.Stat(filepath.Join(dir, e.Name())) // of a link's target
			if err != nil {
				continue // a link to nowhere is a file that is missing
			}
			if size = info.Size(); info.IsDir() {
				size = -1
			}
		}
		all[e.Name()] = size
	}
	return all, nil
}

func hasPrefix(names map[string]int64, prefix string) int {
	n := 0
	for name := range names {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}

// Write prints what was found: files with their digests, and counts next to the published ones. Findings are
// not included.
func (f *Folder) Write(out io.Writer) error {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, file := range f.Files {
		known := "not as published"
		switch file.Published {
		case "":
			known = "no published digest is known"
		case file.SHA256:
			known = "as published"
		}
		fmt.Fprintf(w, "%s\t%d bytes\tSHA-256 %s\t%s\n", visible.Line(file.Path), file.Bytes, file.SHA256, known)
	}
	_ = w.Flush() // into memory
	for _, c := range f.Counts {
		if c.Want > 0 {
			fmt.Fprintf(&b, "%s: %d of %d\n", visible.Line(c.What), c.Found, c.Want)
		} else {
			fmt.Fprintf(&b, "%s: %d\n", visible.Line(c.What), c.Found)
		}
	}
	_, err := out.Write(b.Bytes())
	return err
}
