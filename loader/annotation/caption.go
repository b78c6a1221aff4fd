package annotation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nmn/loader"
)

// Caption is one annotator's description of an image or a clip.
type Caption struct {
	ID   int64 // unique within the file
	Text string
}

// captionElement is a caption as in the file, with the key of the image or clip it describes. Pointers
// distinguish a missing field from a zero.
type captionElement[K comparable] struct {
	id     *int64
	of     *K
	text   *string
	offset int64
}

// captionArray names the fields of the captions of a format, for messages.
type captionArray struct {
	file         string
	array        string // "annotations"
	element      string // "annotation"
	id, of, text string // the fields, for example "id", "image_id" and "caption"
	described    string // what captions describe: "images"
}

func (a *captionArray) place(index int, offset int64) string {
	return elementPlace(captionFile, a.file, a.array, index, offset)
}

// check returns which field of a caption is missing.
func (a *captionArray) check(id *int64, hasOf, hasText bool) error {
	switch {
	case id == nil:
		return fmt.Errorf("%q is missing", a.id)
	case !hasOf:
		return fmt.Errorf("%s %d: %q is missing", a.element, *id, a.of)
	case !hasText:
		return fmt.Errorf("%s %d: %q is missing", a.element, *id, a.text)
	}
	return nil
}

// attach appends each caption to the list of the image or clip that it describes; position finds that by its
// key, and list returns its list. Lists are then sorted by the ids of the captions. It returns the number of
// blank captions.
func attach[K comparable](a captionArray, elements []captionElement[K], position map[K]int,
	list func(at int) *[]Caption) (empty int, err error) {
	seen := make(map[int64]int, len(elements))
	for i := range elements {
		e := &elements[i]
		if err := a.check(e.id, e.of != nil, e.text != nil); err != nil {
			return 0, fmt.Errorf("%s: %w", a.place(i, e.offset), err)
		}
		if first, ok := seen[*e.id]; ok {
			return 0, fmt.Errorf("%s: %s %d repeats %s[%d]", a.place(i, e.offset), a.id, *e.id, a.array, first)
		}
		seen[*e.id] = i
		at, ok := position[*e.of]
		if !ok {
			return 0, fmt.Errorf("%s: %s %s is none of the %s", a.place(i, e.offset), a.of, shownKey(*e.of),
				a.described)
		}
		if strings.TrimSpace(*e.text) == "" {
			empty++
		}
		captions := list(at)
		*captions = append(*captions, Caption{ID: *e.id, Text: *e.text})
	}
	for _, at := range position {
		slices.SortFunc(*list(at), func(a, b Caption) int { return cmp.Compare(a.ID, b.ID) })
	}
	return empty, nil
}

// shownKey is a key for messages: an id as it is, a name in quotes.
func shownKey(key any) string {
	if name, ok := key.(string); ok {
		return strconv.Quote(loader.Excerpt(name))
	}
	return fmt.Sprint(key)
}

// texts gives the captions of a list one by one, and reports whether to go on.
func texts(captions []Caption, yield func(string) bool) bool {
	for _, caption := range captions {
		if !yield(caption.Text) {
			return false
		}
	}
	return true
}

// first returns the first n captions, all of them when n is 0 or too large.
func first[C any](captions []C, n int) []C {
	if n <= 0 || n > len(captions) {
		return captions
	}
	return captions[:n]
}
