package picture

import (
	"path/filepath"
	"slices"
	"strings"
)

// Extensions returns the extensions of picture files, in lower case with the dot, for searching folders. The
// format of a file is determined by its content, whatever its name (Format).
func Extensions() []string {
	return []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff"}
}

// foreignExtensions are the endings of pictures that are not read.
func foreignExtensions() []string {
	return []string{".heic", ".heif", ".avif", ".jp2", ".j2k", ".jxl"}
}

// IsForeignName reports whether a file's name has the extension of one of the ForeignFormats.
func IsForeignName(name string) bool {
	return slices.Contains(foreignExtensions(), strings.ToLower(filepath.Ext(name)))
}

// ForeignCure returns which formats are not supported, and what to do about their files.
func ForeignCure() string {
	return strings.Join(ForeignFormats(), ", ") + " are not read: convert them to JPEG, as magick IN OUT.jpg of " +
		"ImageMagick does"
}

// IsName reports whether a file's name has the extension of a picture, in upper or lower case.
func IsName(name string) bool {
	return slices.Contains(Extensions(), strings.ToLower(filepath.Ext(name)))
}
