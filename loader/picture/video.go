package picture

import (
	"path/filepath"
	"slices"
	"strings"
)

// VideoExtensions are the endings of the names of video files, in lower case with the dot. A .gif is a picture here.
func VideoExtensions() []string {
	return []string{".3gp", ".asf", ".avi", ".flv", ".m2ts", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".mts",
		".mxf", ".ogv", ".ts", ".vob", ".webm", ".wmv", ".y4m"}
}

// IsVideoName reports whether a file's name has the extension of a video, in upper or lower case.
func IsVideoName(name string) bool {
	return slices.Contains(VideoExtensions(), strings.ToLower(filepath.Ext(name)))
}

// ClipExtensions returns the extensions of files that are taken as clips: videos, and .gif.
func ClipExtensions() []string { return append([]string{".gif"}, VideoExtensions()...) }

// IsClipName reports whether a file's name ends with one of ClipExtensions, in upper or lower case.
func IsClipName(name string) bool {
	return slices.Contains(ClipExtensions(), strings.ToLower(filepath.Ext(name)))
}

// videos are the formats of video files, by how they start.
var videos = []struct {
	name  string
	magic []string
}{
	{"Matroska or WebM", []string{"\x1a\x45\xdf\xa3"}},
	{"MP4 or QuickTime", []string{"????ftyp", "????moov", "????mdat", "????wide"}},
	{"AVI", []string{"RIFF????AVI "}},
	{"ASF or WMV", []string{"\x30\x26\xb2\x75\x8e\x66\xcf\x11"}},
	{"FLV", []string{"FLV\x01"}},
	{"MPEG", []string{"\x00\x00\x01\xba", "\x00\x00\x01\xb3"}},
	{"Ogg", []string{"OggS"}},
	{"MXF", []string{"\x06\x0e\x2b\x34\x02\x05\x01\x01"}},
	{"YUV4MPEG2", []string{"YUV4MPEG2 "}},
}

// VideoFormat names the format of a video file by how it starts; empty if it is none, or a picture.
func VideoFormat(data []byte) string {
	if Format(data) != "" {
		return ""
	}
	for _, video := range videos {
		if startsAs(data, video.magic) {
			return video.name
		}
	}
	return ""
}
