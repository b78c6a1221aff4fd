package shard

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxName bounds the name of a clip, in bytes: the longest path of Linux.
const maxName = 4096

// Key makes the key of a clip from its name. Letters, digits, - and _ of ASCII stay, every other byte
// becomes % and two hexadecimal digits, as in URLs, whose decoders give the name back: a key has neither
// dots, where readers of WebDataset end it, nor slashes, and two names never share one.
func Key(clip string) string {
	var b strings.Builder
	for i := range len(clip) {
		if c := clip[i]; plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// CheckName returns why a clip of this name cannot be stored in a form.
func CheckName(clip string, form Form) error {
	if err := checkName(clip); err != nil {
		return err
	}
	if n := len(Key(clip)); form == Folder && n > maxFolderKey {
		return faultf("the clip %.200q needs a folder whose name has %d bytes, at most %d: shards have no such limit",
			clip, n, maxFolderKey)
	}
	return nil
}

func checkName(clip string) error {
	switch {
	case clip == "":
		return faultf("a clip without a name")
	case len(clip) > maxName:
		return faultf("the name of a clip has %d bytes, at most %d", len(clip), maxName)
	case !utf8.ValidString(clip):
		return faultf("the name of the clip %q is not UTF-8: rename it", clip)
	}
	return nil
}

// pictureName is the name of frame i of n, without the key: 00.jpg, with as many digits as the last
// one needs.
func pictureName(i, n int) string {
	return fmt.Sprintf("%0*d.jpg", max(2, len(strconv.Itoa(n-1))), i)
}
