package manifest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	slashed "path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"nmn/internal/durable"
	"nmn/loader"
	"nmn/loader/annotation"
)

// isInstances matches the names of files of instances in a folder, as COCO has them and as Roboflow writes them.
var isInstances = regexp.MustCompile(`(?i)^(instances.*|_?annotations\.coco)\.json(\.gz)?$`)

func (r *folderReader) instances() []string {
	return only(r.labels.others, func(file string) bool { return isInstances.MatchString(slashed.Base(file)) })
}

// coco reads the files of instances of a folder, each as a split if its name or its folder names one.
func (r *folderReader) coco(ctx context.Context) error {
	files := r.instances()
	if len(files) == 0 {
		return errors.New("there is no file such as instances_train2017.json in it")
	}
	for _, file := range files {
		found, err := annotation.ReadInstances(ctx, filepath.Join(r.labels.folder, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		r.source(file)
		set := instancesOf(file)
		split := splitOf(file)
		if named, ok := loader.SplitNamed(strings.TrimRight(set, "0123456789")); ok {
			split = named
		}
		dirs := []string{slashed.Dir(file), ".", set, "images/" + set, "images"}
		err = r.b.instances(found, split, func(name string) string {
			for _, dir := range dirs {
				if at := slashed.Join(dir, name); r.pictures.picture(at) {
					return at
				}
			}
			return slashed.Join(dirs[2], name)
		})
		if err != nil {
			return fmt.Errorf("%q: %w", file, err)
		}
	}
	return nil
}

// instancesOf returns the part of a file's name that describes its content: train2017 of instances_train2017.json.
func instancesOf(file string) string {
	base := strings.TrimSuffix(slashed.Base(filepath.ToSlash(file)), ".gz")
	_, set, _ := strings.Cut(strings.TrimSuffix(base, slashed.Ext(base)), "_")
	return set
}

// readInstances reads one file of instances. Without a folder of pictures, they are expected in the folder of
// the file, or where COCO has them.
func readInstances(ctx context.Context, path string, o Options) (*Manifest, error) {
	found, err := annotation.ReadInstances(ctx, path)
	if err != nil {
		return nil, err
	}
	if o.Images == "" {
		o.Images = besideInstances(path, found.Images[0].FileName)
	}
	b := newBuilder(path, o.Images)
	if err := b.instances(found, "", func(name string) string { return name }); err != nil {
		return nil, loader.Unusable(fmt.Errorf("manifest %q: %w", path, err))
	}
	b.manifest.Form, b.manifest.Columns.Format = FormCOCO, forms[FormCOCO].folder
	return b.manifest, nil
}

// besideInstances is the folder in which the first picture is found.
func besideInstances(path, first string) string {
	own := filepath.Dir(path)
	set, above := instancesOf(path), filepath.Dir(own)
	for _, folder := range []string{own, filepath.Join(above, set), filepath.Join(above, "images", set),
		filepath.Join(above, "images"), filepath.Join(own, "images")} {
		if durable.Exists(filepath.Join(folder, filepath.FromSlash(first))) {
			return folder
		}
	}
	return own
}

// instances keeps images; place finds the path of one by its name in the file.
func (b *builder) instances(found *annotation.Instances, split string, place func(string) string) error {
	for _, name := range found.Categories {
		if _, err := b.label(name); err != nil { // also those on no image
			return fmt.Errorf("categories: %w", err)
		}
	}
	for _, image := range found.Images {
		names := make([]string, len(image.Categories))
		for i, k := range image.Categories {
			names[i] = found.Categories[k]
		}
		r := &record{path: place(image.FileName), hasPath: true, split: split, labels: names}
		if err := b.add(r); err != nil {
			return fmt.Errorf("image %d: %w", image.ID, err)
		}
	}
	return nil
}

// isCOCO reports whether a file begins like a COCO file: with an object whose first key holds an object, or
// an array of objects. Rows of JSON lines hold text, numbers, and arrays of these.
func isCOCO(ctx context.Context, path string) (bool, error) {
	r, err := loader.OpenText(ctx, path)
	if err != nil {
		return false, err
	}
	defer r.Close()
	start, _ := io.ReadAll(io.LimitReader(r, 1<<12)) // read errors appear when it is read in full
	first := bytes.TrimLeft(start, " \t\r\n")
	if len(first) == 0 || first[0] != '{' {
		return false, nil
	}
	d := json.NewDecoder(bytes.NewReader(first))
	_, _ = d.Token()
	key, err := d.Token()
	name, _ := key.(string)
	if err != nil || !slices.Contains([]string{"info", "licenses", "images", "annotations", "categories", "type"}, name) {
		return false, nil
	}
	rest := bytes.TrimLeft(first[d.InputOffset():], ": \t\r\n")
	switch {
	case name == "type":
		return bytes.HasPrefix(rest, []byte(`"instances"`)), nil
	case name == "info":
		return bytes.HasPrefix(rest, []byte("{")), nil
	case !bytes.HasPrefix(rest, []byte("[")):
		return false, nil
	}
	rest = bytes.TrimLeft(rest[1:], " \t\r\n")
	return len(rest) > 0 && (rest[0] == '{' || rest[0] == ']'), nil
}
