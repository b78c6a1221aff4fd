package annotation

import (
	"context"

	"cmp"
	"fmt"
	"io"
	"nmn/loader"
	"path/filepath"
	"slices"
	"strings"
)

// COCO are the images and captions of one file, for example captions_train2014.json.
type COCO struct {
	Name   string
	Images []COCOImage // by ascending id, whatever the order in the file
	// Warnings count entries that are kept but carry no labels.
	Warnings COCOWarnings
}

// COCOImage is an image with all its captions, by ascending annotation id.
type COCOImage struct {
	ID            int64
	FileName      string // relative to the folder of the images, never leading out of it
	Width, Height int    // pixels, 0 where the file does not say
	Captions      []Caption
}

// COCOWarnings count unusual but valid entries of a caption file.
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

// ReadCOCO reads a caption file in the format of COCO (2014 or 2017), plain or .gz. Memory
// grows with the images and captions, not with the size of the text around them. Missing and
// repeated ids, wrong types, captions of unknown images, file names that lead out of the folder
// and a file without images are errors that wrap ErrAnnotations and name file, array, index and
// the byte (after decompression) before the element.
func ReadCOCO(ctx context.Context, path string) (*COCO, error) {
	r, err := loader.OpenText(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("captions: %w", err)
	}
	defer r.Close()
	return ParseCOCO(path, r)
}

// ParseCOCO is ReadCOCO for a stream of plain JSON; name stands in messages.
func ParseCOCO(name string, r io.Reader) (*COCO, error) {
	file := cocoFile{name: name}
	if _, err := readFile(captionFile, name, r, file.format()); err != nil {
		return nil, err
	}
	return file.captionsOf()
}

// captionsOf is join with the sentinel of unusable files.
func (f *cocoFile) captionsOf() (*COCO, error) {
	c, err := f.join()
	if err != nil {
		return nil, loader.Unusable(err)
	}
	return c, nil
}

// join checks the elements and hangs the captions on their images.
func (f *cocoFile) join() (*COCO, error) {
	if len(f.images) == 0 {
		return nil, fmt.Errorf("captions %q: there are no images", f.name)
	}
	c := &COCO{Name: f.name, Images: make([]COCOImage, len(f.images))}
	position := make(map[int64]int, len(f.images))
	for i := range f.images {
		e := &f.images[i]
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", elementPlace(captionFile, f.name, "images", i, e.offset), err)
		}
		if first, ok := position[*e.ID]; ok {
			return nil, fmt.Errorf("%s: id %d repeats images[%d]", elementPlace(captionFile, f.name, "images", i, e.offset),
				*e.ID, first)
		}
		position[*e.ID] = i
		c.Images[i] = COCOImage{ID: *e.ID, FileName: *e.FileName, Width: e.Width, Height: e.Height}
	}
	var err error
	c.Warnings.EmptyCaptions, err = attach(captionArray{
		file: f.name, array: "annotations", element: "annotation", id: "id", of: "image_id", text: "caption",
		described: "images",
	}, f.captions, position, func(at int) *[]Caption { return &c.Images[at].Captions })
	if err != nil {
		return nil, err
	}
	slices.SortFunc(c.Images, func(a, b COCOImage) int { return cmp.Compare(a.ID, b.ID) })
	for i := range c.Images {
		if len(c.Images[i].Captions) == 0 {
			c.Warnings.Uncaptioned++
		}
	}
	return c, nil
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

// cocoImage is an element of the array "images". Pointers separate a missing field from a zero.
type cocoImage struct {
	ID       *int64  `json:"id"`
	FileName *string `json:"file_name"`
	Width    int     `json:"width"`
	Height   int     `json:"height"`
	offset   int64
}

// cocoFile is the part of the file that captions need, element by element as it is written.
type cocoFile struct {
	name     string
	images   []cocoImage
	captions []captionElement[int64]
}

// format reads into the file.
func (f *cocoFile) format() fileFormat {
	return fileFormat{"a caption file of COCO", []fileArray{
		elements("images", func(e cocoImage, offset int64) {
			e.offset = offset
			f.images = append(f.images, e)
		}),
		elements("annotations", func(e struct {
			ID      *int64  `json:"id"`
			ImageID *int64  `json:"image_id"`
			Caption *string `json:"caption"`
		}, offset int64) {
			f.captions = append(f.captions, captionElement[int64]{id: e.ID, of: e.ImageID, text: e.Caption, offset: offset})
		}),
	}}
}
