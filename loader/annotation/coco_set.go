package annotation

import (
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

// COCOOptions say how a caption file becomes a Set.
type COCOOptions struct {
	Name             string // of the Set; "" is the name of the caption file without folder and endings
	CaptionsPerImage int    // the first captions by annotation id that are used; 0 is 5, as in the paper
	// Images is the folder in which every image must have its file; "" checks none.
	Images string
	// Missing is called for each image whose file is not in Images; the image is then left out. Nil
	// makes a missing file an error that wraps fs.ErrNotExist.
	Missing func(file string)
	// SkipUncaptioned leaves out images without captions, which else have no labels at all.
	SkipUncaptioned bool
}

// COCOSet labels images by their captions, see NewCaptionSet. Bags are in the order of the image
// ids; their ID is the image id in decimal. files are the names of the pictures, one per bag,
// relative to the folder of the images: NewFileSource(folder, files) is the Source to put into the
// Set before it is split.
func COCOSet(c *COCO, vocabulary *text.Vocabulary, o COCOOptions) (s *loader.Set, files []string, err error) {
	perImage := o.CaptionsPerImage
	if perImage == 0 {
		perImage = 5
	}
	if perImage < 0 || perImage > loader.MaxCaptions {
		return nil, nil, fmt.Errorf("captions %q: %d captions per image, allowed are 1 to %d, or 0 for 5",
			c.Name, perImage, loader.MaxCaptions)
	}
	images, err := chooseImages(c, o)
	if err != nil {
		return nil, nil, err
	}
	ids, captions := make([]string, len(images)), make([][]string, len(images))
	files = make([]string, len(images))
	for i, image := range images {
		ids[i], files[i] = strconv.FormatInt(image.ID, 10), image.FileName
		for _, caption := range first(image.Captions, perImage) {
			captions[i] = append(captions[i], caption.Text)
		}
	}
	s, err = loader.NewCaptionSet(cocoName(c, o), ids, captions, perImage, vocabulary)
	return s, files, err
}

// cocoName returns the name of the set, for example captions_train2014.
func cocoName(c *COCO, o COCOOptions) string {
	if o.Name != "" {
		return o.Name
	}
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(c.Name), ".gz"), ".json")
}

// chooseImages returns the images to use.
func chooseImages(c *COCO, o COCOOptions) ([]*COCOImage, error) {
	images := make([]*COCOImage, 0, len(c.Images))
	var missing []string
	alike := loader.NewAlikeFiles(o.Images)
	for i := range c.Images {
		image := &c.Images[i]
		if o.SkipUncaptioned && len(image.Captions) == 0 {
			continue
		}
		if o.Images != "" {
			found, err := o.file(image.FileName, alike)
			switch {
			case err != nil:
				return nil, fmt.Errorf("captions %q, image %d: %w", c.Name, image.ID, err)
			case found == "":
				missing = append(missing, image.FileName)
				continue
			case found != image.FileName:
				own := *image
				own.FileName, image = found, &own
			}
		}
		images = append(images, image)
	}
	if len(missing) > 0 && o.Missing == nil {
		return nil, fmt.Errorf("captions %q: %d of %d images have no file in %q, first %q; complete the folder, or "+
			"leave them out (`data.max_bad_samples`): %w",
			c.Name, len(missing), len(c.Images), o.Images, missing[:min(3, len(missing))], fs.ErrNotExist)
	}
	for _, file := range missing {
		o.Missing(file)
	}
	if len(images) == 0 {
		return nil, fmt.Errorf("captions %q: none of %d images can be used, %d have no file in %q",
			c.Name, len(c.Images), len(missing), o.Images)
	}
	return images, nil
}

// file returns the name under which the file of a picture is there; empty if there is none.
func (o *COCOOptions) file(name string, alike *loader.AlikeFiles) (string, error) {
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
