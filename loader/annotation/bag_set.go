package annotation

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"nmn/loader"
	"nmn/text"
)

// SetOptions say how captions of pictures become a Set.
type SetOptions struct {
	CaptionsPerSample int    // the first captions that are used
	Images            string // folder in which every picture must have its file; "" checks none
	// Missing is called for each picture whose file is not in Images; the picture is then left out. Nil
	// makes a missing file an error that wraps fs.ErrNotExist.
	Missing func(file string)
}

// Set labels pictures by their captions, see NewCaptionSet; it leaves out pictures without captions. files are the
// names of the pictures, one per bag, relative to the folder of the images: NewFileSource(folder, files) is the Source
// to put into the Set before it is split. Bags without a file are looked up by their identifiers.
func (b *Bags) Set(vocabulary *text.Vocabulary, o SetOptions) (s *loader.Set, files []string, err error) {
	bags, files, err := b.choose(&o)
	if err != nil {
		return nil, nil, err
	}
	name := strings.TrimSuffix(filepath.Base(b.Name), ".gz")
	s, err = b.labelled(strings.TrimSuffix(name, filepath.Ext(name)), bags, o.CaptionsPerSample, vocabulary)
	return s, files, err
}

func (b *Bags) labelled(name string, bags []int, perBag int, vocabulary *text.Vocabulary) (*loader.Set, error) {
	if perBag < 1 || perBag > loader.MaxCaptions {
		return nil, fmt.Errorf("captions %q: %d captions per sample, want 1 to %d", b.Name, perBag, loader.MaxCaptions)
	}
	ids, captions := make([]string, len(bags)), make([][]string, len(bags))
	for i, bag := range bags {
		ids[i] = b.IDs[bag]
		for _, caption := range first(b.Captions[bag], perBag) {
			captions[i] = append(captions[i], caption.Text)
		}
	}
	return loader.NewCaptionSet(name, ids, captions, perBag, vocabulary)
}

func (b *Bags) choose(o *SetOptions) (bags []int, files []string, err error) {
	var missing []string
	alike := loader.NewAlikeFiles(o.Images)
	for i, id := range b.IDs {
		if len(b.Captions[i]) == 0 {
			continue
		}
		file := cmp.Or(b.Files[i], id)
		if o.Images != "" {
			found, err := o.file(file, alike)
			if err != nil {
				return nil, nil, fmt.Errorf("captions %q, picture %q: %w", b.Name, loader.Excerpt(id), err)
			}
			if found == "" {
				missing = append(missing, file)
				continue
			}
			file = found
		}
		bags, files = append(bags, i), append(files, file)
	}
	if len(missing) > 0 && o.Missing == nil {
		return nil, nil, fmt.Errorf("captions %q: %d of %d pictures have no file in %q, first %q; complete the folder, or "+
			"leave them out (`data.max_bad_samples`): %w",
			b.Name, len(missing), len(b.IDs), o.Images, missing[:min(3, len(missing))], fs.ErrNotExist)
	}
	for _, file := range missing {
		o.Missing(file)
	}
	if len(bags) == 0 {
		return nil, nil, fmt.Errorf("captions %q: none of %d pictures can be used, %d have no file in %q",
			b.Name, len(b.IDs), len(missing), o.Images)
	}
	return bags, files, nil
}

// ErrNoClips is wrapped by the error about a split that a file has no clips of.
var ErrNoClips = errors.New("there are no such clips")

// ClipOptions say which clips of a split of MSR-VTT become a Set, and how.
type ClipOptions struct {
	Split             string                  // train, validate or test
	CaptionsPerSample int                     // the first captions by sen_id that are used
	Has               func(clip string) error // returns why the frames of a clip cannot be used; nil if they can
	// LeftOut is called for each clip that is left out because it has no captions, or no frames according to
	// Has. Nil makes it an error.
	LeftOut func(clip string, err error)
}

// ClipSet labels the clips of a split by their sentences, see NewCaptionSet. The Set has no Source yet.
func (b *Bags) ClipSet(vocabulary *text.Vocabulary, o ClipOptions) (*loader.Set, error) {
	of := b.Split(o.Split)
	var usable, unused []int
	var why []error
	for i, id := range of.IDs {
		err := errors.New("it has no captions") // it would have no labels
		if len(of.Captions[i]) > 0 {
			err = o.Has(id)
		}
		if err == nil {
			usable = append(usable, i)
		} else {
			unused, why = append(unused, i), append(why, err)
		}
	}
	switch {
	case len(of.IDs) == 0:
		return nil, fmt.Errorf("captions %q: split %q: %w", b.Name, o.Split, ErrNoClips)
	case len(unused) > 0 && o.LeftOut == nil:
		return nil, fmt.Errorf("captions %q: %d of %d clips of the split %q cannot be used, first %q; complete them, "+
			"or leave them out (`data.max_bad_samples`): %w",
			b.Name, len(unused), len(of.IDs), o.Split, loader.Excerpt(of.IDs[unused[0]]), why[0])
	}
	for i, clip := range unused {
		o.LeftOut(of.IDs[clip], why[i])
	}
	if len(usable) == 0 {
		return nil, fmt.Errorf("captions %q: none of %d clips of the split %q can be used, first %q: %w",
			b.Name, len(of.IDs), o.Split, loader.Excerpt(of.IDs[unused[0]]), why[0])
	}
	return of.labelled("msrvtt-"+o.Split, usable, o.CaptionsPerSample, vocabulary)
}

// file returns the name under which the file of a picture is there; empty if there is none.
func (o *SetOptions) file(name string, alike *loader.AlikeFiles) (string, error) {
	if ok, err := isFile(loader.PathIn(o.Images, name)); ok || err != nil {
		return name, err
	}
	found, err := alike.Find(name)
	if err != nil || len(found) != 1 {
		return "", err
	}
	if ok, err := isFile(loader.PathIn(o.Images, found[0])); !ok {
		return "", err
	}
	return found[0], nil
}

func isFile(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return info.Mode().IsRegular(), nil
}

// cocoID converts the names that lists use for an image of COCO into the ID of its bag: "42", "000000000042",
// "000000000042.jpg" and "val2014/COCO_val2014_000000000042.jpg" all give "42". Any other name is returned unchanged.
func cocoID(name string) string {
	digits := strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ".jpg")
	digits = digits[strings.LastIndexByte(digits, '_')+1:]
	if id, err := strconv.ParseInt(digits, 10, 64); err == nil && id >= 0 && digits[0] != '+' && digits[0] != '-' {
		return strconv.FormatInt(id, 10)
	}
	return name
}

// COCOIDs applies cocoID to a list.
func COCOIDs(names []string) []string {
	ids := slices.Clone(names)
	for i, name := range ids {
		ids[i] = cocoID(name)
	}
	return ids
}
