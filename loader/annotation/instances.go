package annotation

import (
	"context"
	"errors"
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
	f := instancesFile{found: &Instances{Name: name}, images: map[int64]int{}, files: map[string]int{},
		categories: map[int64]int32{}, named: map[string]int32{}, elements: map[int64]int{}}
	if _, err := readFile(instanceFile, name, r, f.format()); err != nil {
		return nil, err
	}
	found, err := f.join()
	if err != nil {
		return nil, loader.Unusable(err)
	}
	return found, nil
}

// instancesFile is the part of the file that labels need, as it is read.
type instancesFile struct {
	found      *Instances
	images     map[int64]int    // positions by id
	files      map[string]int   // positions by name
	categories map[int64]int32  // positions in found.Categories by id
	named      map[string]int32 // positions by name
	elements   map[int64]int    // positions in the array of categories by id
	objects    []objectElement
}

// objectElement is an element of "annotations", in little memory: there are many.
type objectElement struct{ image, category, offset int64 }

func (f *instancesFile) format() fileFormat {
	return fileFormat{"a file of COCO's instances", []fileArray{
		elements("images", f.addImage),
		elements("annotations", func(e struct {
			Image    *int64 `json:"image_id"`
			Category *int64 `json:"category_id"`
		}, offset int64) error {
			if e.Image == nil || e.Category == nil {
				return errors.New("\"image_id\" or \"category_id\" is missing")
			}
			f.objects = append(f.objects, objectElement{*e.Image, *e.Category, offset})
			return nil
		}),
		elements("categories", f.addCategory),
	}}
}

func (f *instancesFile) addImage(e cocoImage, _ int64) error {
	if err := e.check(); err != nil {
		return err
	}
	if first, ok := f.images[*e.ID]; ok {
		return fmt.Errorf("id %d repeats images[%d]", *e.ID, first)
	}
	file := filepath.ToSlash(filepath.Clean(filepath.FromSlash(*e.FileName)))
	if first, ok := f.files[file]; ok {
		return fmt.Errorf("file_name %q repeats images[%d]", loader.Excerpt(file), first)
	}
	f.images[*e.ID], f.files[file] = len(f.found.Images), len(f.found.Images)
	f.found.Images = append(f.found.Images, InstanceImage{ID: *e.ID, FileName: file})
	return nil
}

type categoryElement struct {
	ID   *int64  `json:"id"`
	Name *string `json:"name"`
}

func (f *instancesFile) addCategory(e categoryElement, _ int64) error {
	switch {
	case e.ID == nil:
		return errors.New("\"id\" is missing")
	case e.Name == nil || strings.TrimSpace(*e.Name) == "":
		return fmt.Errorf("category %d: \"name\" is missing", *e.ID)
	}
	if before, ok := f.elements[*e.ID]; ok {
		return fmt.Errorf("id %d repeats categories[%d]", *e.ID, before)
	}
	name := strings.TrimSpace(*e.Name)
	k, known := f.named[name]
	if !known {
		k = int32(len(f.found.Categories))
		f.found.Categories, f.named[name] = append(f.found.Categories, name), k
	}
	f.elements[*e.ID], f.categories[*e.ID] = len(f.elements), k
	return nil
}

// join hangs the categories on the images.
func (f *instancesFile) join() (*Instances, error) {
	found := f.found
	switch {
	case len(found.Images) == 0:
		return nil, fmt.Errorf("%s %q: there are no images", instanceFile, found.Name)
	case len(found.Categories) == 0:
		return nil, fmt.Errorf("%s %q: there are no categories, which are the labels", instanceFile, found.Name)
	}
	for i, o := range f.objects {
		at, ok := f.images[o.image]
		category, known := f.categories[o.category]
		if !ok || !known {
			what := fmt.Sprintf("image_id %d is that of no image", o.image)
			if ok {
				what = fmt.Sprintf("category_id %d is that of no category", o.category)
			}
			return nil, fmt.Errorf("%s: %s", elementPlace(instanceFile, found.Name, "annotations", i, o.offset), what)
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
