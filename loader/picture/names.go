package picture

import (
	"path/filepath"
	"slices"
	"strings"
)

// Extensions are the endings of the names of picture files, in lower case with the dot: what is looked for where a
// folder is searched. What a file holds is told by its content, whatever its name (Format).
func Extensions() []string {
	return []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff"}
}

// IsName reports whether a file's name ends like that of a picture, in upper or lower case.
func IsName(name string) bool {
	return slices.Contains(Extensions(), strings.ToLower(filepath.Ext(name)))
}
