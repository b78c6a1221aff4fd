package loader

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
)

// COCOCaptions are the images and captions of one file, for example captions_train2014.json.
type COCOCaptions struct {
	Name   string
	Images []COCOImage // by ascending id, whatever the order in the file
	// Warnings count what is kept but carries no labels.
	Warnings COCOWarnings
}

// COCOImage is an image with all its captions, by ascending annotation id.
type COCOImage struct {
	ID            int64
	FileName      string // relative to the folder of the images, never leading out of it
	Width, Height int    // pixels, 0 where the file does not say
	Captions      []COCOCaption
}

// COCOCaption is one annotation.
type COCOCaption struct {
	ID   int64
	Text string
}

// COCOWarnings count what a caption file may hold, but hardly should.
type COCOWarnings struct {
	EmptyCaptions int // nothing but blanks: kept, they give no labels
	Uncaptioned   int // images without any caption: kept, without labels
}

// String lists the warnings for a log, "" when there are none.
func (w COCOWarnings) String() string {
	var parts []string
	if w.EmptyCaptions > 0 {
		parts = append(parts, fmt.Sprintf("%d empty captions give no labels", w.EmptyCaptions))
	}
	if w.Uncaptioned > 0 {
		parts = append(parts, fmt.Sprintf("%d images have no caption and no labels", w.Uncaptioned))
	}
	return strings.Join(parts, "; ")
}

// ReadCOCOCaptions reads a caption file in the format of COCO (2014 or 2017), plain or .gz. Memory
// grows with the images and captions, not with the size of the text around them. Missing and
// repeated ids, wrong types, captions of unknown images, file names that lead out of the folder
// and a file without images are errors that wrap ErrAnnotations and name file, array, index and
// the byte (after decompression) before the element.
func ReadCOCOCaptions(path string) (*COCOCaptions, error) {
	r, err := openText(path)
	if err != nil {
		return nil, fmt.Errorf("captions: %w", err)
	}
	defer r.Close()
	return ParseCOCOCaptions(path, r)
}

// ParseCOCOCaptions is ReadCOCOCaptions for a stream of plain JSON; name stands in messages.
func ParseCOCOCaptions(name string, r io.Reader) (*COCOCaptions, error) {
	file := cocoFile{name: name}
	if _, err := readAnnotations(name, r, file.format()); err != nil {
		return nil, err
	}
	return file.captionsOf()
}

// captionsOf is join with the sentinel of unusable files.
func (f *cocoFile) captionsOf() (*COCOCaptions, error) {
	c, err := f.join()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrAnnotations)
	}
	return c, nil
}

// join checks the elements and hangs the captions on their images.
func (f *cocoFile) join() (*COCOCaptions, error) {
	if len(f.images) == 0 {
		return nil, fmt.Errorf("captions %q: there are no images", f.name)
	}
	c := &COCOCaptions{Name: f.name, Images: make([]COCOImage, len(f.images))}
	position := make(map[int64]int, len(f.images))
	for i := range f.images {
		e := &f.images[i]
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", f.place("images", i, e.offset), err)
		}
		if first, ok := position[*e.ID]; ok {
			return nil, fmt.Errorf("%s: id %d repeats images[%d]", f.place("images", i, e.offset), *e.ID, first)
		}
		position[*e.ID] = i
		c.Images[i] = COCOImage{ID: *e.ID, FileName: *e.FileName, Width: e.Width, Height: e.Height}
	}
	if err := f.attach(c, position); err != nil {
		return nil, err
	}
	slices.SortFunc(c.Images, func(a, b COCOImage) int { return cmp.Compare(a.ID, b.ID) })
	for i := range c.Images {
		captions := c.Images[i].Captions
		slices.SortFunc(captions, func(a, b COCOCaption) int { return cmp.Compare(a.ID, b.ID) })
		if len(captions) == 0 {
			c.Warnings.Uncaptioned++
		}
	}
	return c, nil
}

// attach appends each caption to its image.
func (f *cocoFile) attach(c *COCOCaptions, position map[int64]int) error {
	seen := make(map[int64]int, len(f.captions))
	for i := range f.captions {
		e := &f.captions[i]
		if err := e.check(); err != nil {
			return fmt.Errorf("%s: %w", f.place("annotations", i, e.offset), err)
		}
		if first, ok := seen[*e.ID]; ok {
			return fmt.Errorf("%s: id %d repeats annotations[%d]", f.place("annotations", i, e.offset), *e.ID, first)
		}
		seen[*e.ID] = i
		at, ok := position[*e.ImageID]
		if !ok {
			return fmt.Errorf("%s: image_id %d is none of the images", f.place("annotations", i, e.offset), *e.ImageID)
		}
		if strings.TrimSpace(*e.Caption) == "" {
			c.Warnings.EmptyCaptions++
		}
		c.Images[at].Captions = append(c.Images[at].Captions, COCOCaption{ID: *e.ID, Text: *e.Caption})
	}
	return nil
}

func (e *cocoImage) check() error {
	switch {
	case e.ID == nil:
		return fmt.Errorf("\"id\" is missing")
	case e.FileName == nil || *e.FileName == "":
		return fmt.Errorf("image %d: \"file_name\" is missing", *e.ID)
	case strings.ContainsRune(*e.FileName, 0) || !filepath.IsLocal(filepath.FromSlash(*e.FileName)):
		return fmt.Errorf("image %d: file_name %q is not a path inside the folder of images", *e.ID, *e.FileName)
	case e.Width < 0 || e.Height < 0:
		return fmt.Errorf("image %d: size %d×%d", *e.ID, e.Width, e.Height)
	}
	return nil
}

func (e *cocoCaption) check() error {
	switch {
	case e.ID == nil:
		return fmt.Errorf("\"id\" is missing")
	case e.ImageID == nil:
		return fmt.Errorf("annotation %d: \"image_id\" is missing", *e.ID)
	case e.Caption == nil:
		return fmt.Errorf("annotation %d: \"caption\" is missing", *e.ID)
	}
	return nil
}

// Texts goes through the first perImage captions of every image (0: all), for text.BuildVocabulary.
func (c *COCOCaptions) Texts(perImage int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range c.Images {
			for _, caption := range c.Images[i].first(perImage) {
				if !yield(caption.Text) {
					return
				}
			}
		}
	}
}

// first returns the first n captions by annotation id, all of them when n is 0 or too large.
func (image *COCOImage) first(n int) []COCOCaption {
	if n <= 0 || n > len(image.Captions) {
		return image.Captions
	}
	return image.Captions[:n]
}
