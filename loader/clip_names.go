package loader

import (
	"errors"
	"fmt"
	slashed "path"
	"strings"

	"golang.org/x/text/unicode/norm"

	"nmn/loader/picture"
)

// ErrSameName is why a clip that has the name of several is not found.
var ErrSameName = errors.New("several clips have this name")

// ClipNames finds clips by what tables call them: the name of the file with or without the ending of a video, alone or
// with folders before it, as many as the table or the frames have.
type ClipNames struct {
	clips [][]string       // the parts of each name, without the ending
	whole []string         // each name as it was added
	last  map[string][]int // clips by the last part
}

// Add puts a clip after the others. Its name has slashes.
func (n *ClipNames) Add(clip string) {
	if n.last == nil {
		n.last = map[string][]int{}
	}
	parts := clipParts(clip)
	end := parts[len(parts)-1]
	n.last[end] = append(n.last[end], len(n.clips))
	n.clips, n.whole = append(n.clips, parts), append(n.whole, clip)
}

// Find returns the position of the clip that a name means, in the order in which clips were added; -1 if
// there is none. A clip with exactly that name is preferred. If several match, the error names two of them
// and wraps ErrSameName.
func (n *ClipNames) Find(name string) (int, error) {
	parts := clipParts(name)
	best, most, other := -1, -1, -1
	for _, i := range n.last[parts[len(parts)-1]] {
		alike := 2 * commonEnd(n.clips[i], parts)
		switch {
		case alike < 2*min(len(n.clips[i]), len(parts)):
			continue // folders differ
		case slashed.Ext(n.whole[i]) == slashed.Ext(name):
			alike++
		}
		if alike > most {
			best, most, other = i, alike, -1
		} else if alike == most {
			other = i
		}
	}
	if other >= 0 {
		return -1, fmt.Errorf("%w, %q and %q: write the name with its folder and its ending", ErrSameName,
			Excerpt(n.whole[best]), Excerpt(n.whole[other]))
	}
	return best, nil
}

// Names lists the names of all clips, as they were added.
func (n *ClipNames) Names() []string { return n.whole }

// clipParts are folders and name of a clip in one normal form, without the ending of a video.
func clipParts(clip string) []string {
	return strings.Split(strings.TrimPrefix(norm.NFC.String(withoutEnding(slashed.Clean(clip))), "/"), "/")
}

// withoutEnding leaves out of a name the ending of a video.
func withoutEnding(clip string) string {
	if picture.IsClipName(clip) {
		return strings.TrimSuffix(clip, slashed.Ext(clip))
	}
	return clip
}

// commonEnd is how many of the last elements of two lists are equal.
func commonEnd(a, b []string) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
