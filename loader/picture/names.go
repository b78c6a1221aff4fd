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

// VideoExtensions are the endings of the names of video files, in lower case with the dot. A .gif is a picture here.
func VideoExtensions() []string {
	return []string{".3gp", ".asf", ".avi", ".flv", ".m2ts", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".mts",
		".mxf", ".ogv", ".ts", ".vob", ".webm", ".wmv", ".y4m"}
}

// ClipExtensions returns the extensions of files that are taken as clips: videos, and .gif.
func ClipExtensions() []string { return append([]string{".gif"}, VideoExtensions()...) }

// hasExtension reports whether a file's name has one of the extensions, in upper or lower case.
func hasExtension(name string, extensions []string) bool {
	return slices.Contains(extensions, strings.ToLower(filepath.Ext(name)))
}

// IsName reports whether a file's name has the extension of a picture, in upper or lower case.
func IsName(name string) bool { return hasExtension(name, Extensions()) }

// IsForeignName reports whether a file's name has the extension of one of the ForeignFormats.
func IsForeignName(name string) bool { return hasExtension(name, foreignExtensions()) }

// IsVideoName reports whether a file's name has the extension of a video, in upper or lower case.
func IsVideoName(name string) bool { return hasExtension(name, VideoExtensions()) }

// IsClipName reports whether a file's name ends with one of ClipExtensions, in upper or lower case.
func IsClipName(name string) bool { return hasExtension(name, ClipExtensions()) }

// ForeignCure returns which formats are not supported, and what to do about their files.
func ForeignCure() string {
	return strings.Join(ForeignFormats(), ", ") + " are not read: convert them to JPEG, as magick IN OUT.jpg of " +
		"ImageMagick does"
}
