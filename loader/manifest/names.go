package manifest

import (
	"fmt"
	"slices"
	"strings"

	"nmn/loader"
)

// Names of the columns of a manifest, as messages about files without a header have them.
const (
	pathColumn   = "path"
	framesColumn = "frames"
	idColumn     = "id"
	splitColumn  = "split"
	labelsColumn = "labels"
	truthColumn  = "truth"
	countsColumn = "counts"

	// confidenceColumn has, in a row with one label as in Open Images, whether the picture has the label.
	confidenceColumn = "confidence"
)

// fieldNames returns all columns that a manifest may have in addition to columns of single labels.
func fieldNames() []string {
	return []string{pathColumn, framesColumn, idColumn, splitColumn, labelsColumn, truthColumn, countsColumn}
}

// pathNames are other programs' names for the column path, and lastPathNames the names that count if no
// column has one of these. Identifiers name the files then.
var (
	pathNames = []string{"file", "filename", "filepath", "fname", "image", "imagepath", "imagefile", "imagename", "img",
		"imgpath", "imgname", "picture", "photo", "clip", "clippath", "video", "videopath", "videoid"}
	lastPathNames = []string{imageIDName, idColumn, "name"}
)

const imageIDName = "imageid"

var labelNames = []string{labelsColumn, "label", "labelname", "tags", "tag", "classes", "class", "classname",
	"categories", "category", "categoryname", "target", "y"}

// plain is a name of a column as it is compared: programs write File Name, file_name and filename.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// NamesPictures reports whether a table lists pictures or frames by a column of this name.
func NamesPictures(column string) bool {
	name := plain(strings.TrimSpace(column))
	return name == pathColumn || name == framesColumn || slices.Contains(pathNames, name)
}

// NamesImageIDs reports whether a column of this name identifies pictures, as ImageID does.
func NamesImageIDs(column string) bool { return plain(strings.TrimSpace(column)) == imageIDName }

// NamesLabels reports whether a column of this name may state labels.
func NamesLabels(column string) bool {
	return slices.Contains(labelNames, plain(strings.TrimSpace(column)))
}

// columnFinder finds a column, or a key, by one of its names. The result is the name that the file has, empty for none.
type columnFinder func(name string) string

// findIn is the columnFinder of some names. The exact name takes precedence over one that differs in case alone.
func findIn(names []string) columnFinder {
	exact, alike := make(map[string]bool, len(names)), make(map[string]string, len(names))
	for _, name := range names {
		exact[name] = true
		if key := plain(name); alike[key] == "" {
			alike[key] = name
		}
	}
	return func(name string) string {
		if exact[name] {
			return name
		}
		return alike[name]
	}
}

// path is the name of the column of the pictures: the one that was asked for, else path, else the only one of
// pathNames, else of the identifiers. It is empty if there is none, or if there are frames.
func (find columnFinder) path(asked string) (string, error) {
	if asked != "" {
		if find(asked) != asked {
			return "", fmt.Errorf("there is no column %q (`data.path_column`)", loader.Excerpt(asked))
		}
		return asked, nil
	}
	if name := find(pathColumn); name != "" || find(framesColumn) != "" {
		return name, nil
	}
	var found []string
	for _, name := range pathNames {
		if name = find(name); name != "" {
			found = append(found, name)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("columns %q and %q may both name the pictures; set which (`data.path_column`)", found[0],
			found[1])
	}
	for _, name := range lastPathNames {
		if name = find(name); name != "" {
			return name, nil
		}
	}
	return "", nil
}

// labels are the columns, or keys, that may state all labels of a row.
func (find columnFinder) labels(o *Options) ([]string, error) {
	switch {
	case o.Form == FormColumns:
		return nil, nil
	case o.ListColumn != "" && find(o.ListColumn) != o.ListColumn:
		return nil, fmt.Errorf("there is no column %q (`data.features.list_column`)", loader.Excerpt(o.ListColumn))
	case o.ListColumn != "":
		return []string{o.ListColumn}, nil
	case find(labelsColumn) != "":
		return []string{find(labelsColumn)}, nil
	case len(o.LabelColumns) > 0:
		return nil, nil
	}
	var found []string
	for _, name := range labelNames {
		if name = find(name); name != "" {
			found = append(found, name)
		}
	}
	return found, nil
}
