package annotation

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"nmn/loader"
)

// Instances are the images of one file such as instances_train2017.json of COCO, and the categories of the objects on
// them. Boxes and outlines are not kept.
type Instances struct {
	Name       string
	Categories []string        // different names, in the order of the file
	Images     []InstanceImage // in the order of the file
}

// InstanceImage is an image with the categories of its objects.
type InstanceImage struct {
	ID         int64
	FileName   string  // relative to the folder of the images, never leading out of it
	Categories []int32 // positions in Instances.Categories, ascending; empty if there is no object
}

// instanceFile is what messages call such files.
const instanceFile = "instances"

// ReadInstances reads a file of instances in the format of COCO, plain or .gz. Memory grows with the images and the
// objects on them, not with their outlines. Missing and repeated ids, objects of unknown images or categories, file
// names that lead out of the folder or are given twice, and a file without images or categories are errors that wrap
// ErrAnnotations and name file, array, index and the byte (after decompression) before the element. Categories of one
// name are one.
func ReadInstances(ctx context.Context, path string) (*Instances, error) {
	r, err := loader.OpenText(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", instanceFile, err)
	}
	defer r.Close()
	return parseInstances(path, r)
}

// parseInstances is ReadInstances for a stream of plain JSON; name stands in messages.
func parseInstances(name string, r io.Reader) (*Instances, error) {
	f := instancesFile{name: name}
	if _, err := readFile(instanceFile, name, r, f.format()); err != nil {
		return nil, err
	}
	found, err := f.join()
	if err != nil {
		return nil, loader.Unusable(err)
	}
	return found, nil
}

// instancesFile is the part of the file that labels need, element by element as it is written.
type instancesFile struct {
	name       string
	images     []cocoImage
	categories []categoryElement
	objects    []objectElement
	headless   int64 // 1 + the position of the first object without an image or a category, and its offset
	headlessAt int64
}

type categoryElement struct {
	ID     *int64  `json:"id"`
	Name   *string `json:"name"`
	offset int64
}

// objectElement is an element of "annotations", in little memory: there are many.
type objectElement struct{ image, category, offset int64 }

func (f *instancesFile) format() fileFormat {
	return fileFormat{"a file of COCO's instances", []fileArray{
		elements("images", func(e cocoImage, offset int64) {
			e.offset = offset
			f.images = append(f.images, e)
		}),
		elements("annotations", func(e struct {
			Image    *int64 `json:"image_id"`
			Category *int64 `json:"category_id"`
		}, offset int64) {
			if e.Image == nil || e.Category == nil {
				if f.headless == 0 {
					f.headless, f.headlessAt = int64(len(f.objects))+1, offset
				}
				return
			}
			f.objects = append(f.objects, objectElement{*e.Image, *e.Category, offset})
		}),
		elements("categories", func(e categoryElement, offset int64) {
			e.offset = offset
			f.categories = append(f.categories, e)
		}),
	}}
}

// join checks the elements and hangs the categories on the images.
func (f *instancesFile) join() (*Instances, error) {
	switch {
	case len(f.images) == 0:
		return nil, fmt.Errorf("%s %q: there are no images", instanceFile, f.name)
	case len(f.categories) == 0:
		return nil, fmt.Errorf("%s %q: there are no categories, which are the labels", instanceFile, f.name)
	case f.headless > 0:
		return nil, fmt.Errorf("%s: \"image_id\" or \"category_id\" is missing",
			elementPlace(instanceFile, f.name, "annotations", int(f.headless-1), f.headlessAt))
	}
	found := &Instances{Name: f.name}
	images, err := f.placeImages(found)
	if err != nil {
		return nil, err
	}
	categories, err := f.placeCategories(found)
	if err != nil {
		return nil, err
	}
	for i, o := range f.objects {
		at, ok := images[o.image]
		category, known := categories[o.category]
		if !ok || !known {
			what := fmt.Sprintf("image_id %d is that of no image", o.image)
			if ok {
				what = fmt.Sprintf("category_id %d is that of no category", o.category)
			}
			return nil, fmt.Errorf("%s: %s", elementPlace(instanceFile, f.name, "annotations", i, o.offset), what)
		}
		of := &found.Images[at].Categories
		*of = append(*of, category)
	}
	for i := range found.Images {
		of := &found.Images[i].Categories
		slices.Sort(*of)
		*of = slices.Clip(slices.Compact(*of))
	}
	return found, nil
}

// placeImages takes the images, and returns the position of each id.
func (f *instancesFile) placeImages(found *Instances) (map[int64]int, error) {
	found.Images = make([]InstanceImage, len(f.images))
	position, named := make(map[int64]int, len(f.images)), make(map[string]int, len(f.images))
	for i := range f.images {
		e := &f.images[i]
		place := func() string { return elementPlace(instanceFile, f.name, "images", i, e.offset) }
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", place(), err)
		}
		if first, ok := position[*e.ID]; ok {
			return nil, fmt.Errorf("%s: id %d repeats images[%d]", place(), *e.ID, first)
		}
		file := filepath.ToSlash(filepath.Clean(filepath.FromSlash(*e.FileName)))
		if first, ok := named[file]; ok {
			return nil, fmt.Errorf("%s: file_name %q repeats images[%d]", place(), loader.Excerpt(file), first)
		}
		position[*e.ID], named[file] = i, i
		found.Images[i] = InstanceImage{ID: *e.ID, FileName: file}
	}
	return position, nil
}

// placeCategories reads the names, and returns the position of each id.
func (f *instancesFile) placeCategories(found *Instances) (map[int64]int32, error) {
	of, named, first := map[int64]int32{}, map[string]int32{}, map[int64]int{}
	for i, e := range f.categories {
		place := elementPlace(instanceFile, f.name, "categories", i, e.offset)
		switch {
		case e.ID == nil:
			return nil, fmt.Errorf("%s: \"id\" is missing", place)
		case e.Name == nil || strings.TrimSpace(*e.Name) == "":
			return nil, fmt.Errorf("%s: category %d: \"name\" is missing", place, *e.ID)
		}
		if before, ok := first[*e.ID]; ok {
			return nil, fmt.Errorf("%s: id %d repeats categories[%d]", place, *e.ID, before)
		}
		name := strings.TrimSpace(*e.Name)
		k, known := named[name]
		if !known {
			k = int32(len(found.Categories))
			found.Categories, named[name] = append(found.Categories, name), k
		}
		of[*e.ID], first[*e.ID] = k, i
	}
	return of, nil
}
