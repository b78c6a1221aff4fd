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
	Name              string // of the Set; "" is the name of the caption file without folder and endings
	CaptionsPerSample int    // the first captions that are used; 0 is 5, as in the paper
	// Images is the folder in which every picture must have its file; "" checks none.
	Images string
	// Missing is called for each picture whose file is not in Images; the picture is then left out. Nil
	// makes a missing file an error that wraps fs.ErrNotExist.
	Missing func(file string)
	// SkipUncaptioned leaves out pictures without captions, which else have no labels at all.
	SkipUncaptioned bool
}

// Set labels pictures by their captions, see NewCaptionSet. files are the names of the pictures, one per bag,
// relative to the folder of the images: NewFileSource(folder, files) is the Source to put into the Set before it is
// split. Bags without a file are looked up by their identifiers.
func (b *Bags) Set(vocabulary *text.Vocabulary, o SetOptions) (s *loader.Set, files []string, err error) {
	perBag := o.CaptionsPerSample
	if perBag == 0 {
		perBag = 5
	}
	if perBag < 0 || perBag > loader.MaxCaptions {
		return nil, nil, fmt.Errorf("captions %q: %d captions per picture, allowed are 1 to %d, or 0 for 5",
			b.Name, perBag, loader.MaxCaptions)
	}
	bags, files, err := b.choose(&o)
	if err != nil {
		return nil, nil, err
	}
	ids, captions := make([]string, len(bags)), make([][]string, len(bags))
	for i, bag := range bags {
		ids[i] = b.IDs[bag]
		for _, caption := range first(b.Captions[bag], perBag) {
			captions[i] = append(captions[i], caption.Text)
		}
	}
	s, err = loader.NewCaptionSet(cmp.Or(o.Name, b.stem()), ids, captions, perBag, vocabulary)
	return s, files, err
}

// stem is the name of the file without folder and endings, for example captions_train2014.
func (b *Bags) stem() string {
	name := strings.TrimSuffix(filepath.Base(b.Name), ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// choose returns the bags to use, and their files.
func (b *Bags) choose(o *SetOptions) (bags []int, files []string, err error) {
	var missing []string
	alike := loader.NewAlikeFiles(o.Images)
	for i, id := range b.IDs {
		if o.SkipUncaptioned && len(b.Captions[i]) == 0 {
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

// isFile reports whether a regular file is there.
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
// "000000000042.jpg" and "val2014/COCO_val2014_000000000042.jpg" all give "42". Any other name is returned
// unchanged.
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
