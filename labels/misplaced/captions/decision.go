package captions

import (
	"fmt"
	"hash/fnv"
	"io"
	"strings"

	"nmn/labels"
	"nmn/loader/annotation"
)

// The verdicts on a caption.
const (
	Drop labels.Verdict = "drop" // the caption is of another bag
	Keep labels.Verdict = "keep" // the caption is of its bag
)

// Decisions are the verdicts of people, by the identifiers of captions.
type Decisions map[string]labels.Verdict

// Fingerprint tells the texts of captions apart: 16 hexadecimal digits of FNV-1a.
func Fingerprint(caption string) string {
	h := fnv.New64a()
	io.WriteString(h, caption) // a hash cannot fail
	return fmt.Sprintf("%016x", h.Sum64())
}

// ReadDecisionsFile reads the CSV that the page of an audit saves: for each caption, annotation_id, decision (drop or
// keep) and, if it is there, the Fingerprint of the text that somebody looked at. A caption that is not there, one
// whose text is not what it was, and a second decision on a caption are errors; they name the file and the line, and
// wrap labels.ErrDecisions.
func ReadDecisionsFile(path string, bags *annotation.Bags) (Decisions, error) {
	return decisionsOn(bags).ReadFile(path)
}

func decisionsOn(bags *annotation.Bags) *labels.Decisions[string] {
	places := placesOf(bags)
	return &labels.Decisions[string]{Columns: []string{"annotation_id", "decision", "fingerprint"}, Needed: 2,
		Verdicts: [2]labels.Verdict{Drop, Keep}, Find: func(fields []string) (id, name string, err error) {
			id = strings.TrimSpace(fields[0])
			place, ok := places[id]
			if !ok {
				return "", "", fmt.Errorf("there is no caption %.60q", id)
			}
			seen := strings.TrimSpace(fields[2])
			if seen != "" && seen != Fingerprint(bags.Captions[place[0]][place[1]].Text) {
				return "", "", fmt.Errorf("caption %.60q was decided when its text was another one: the decision is for other "+
					"captions", id)
			}
			return id, fmt.Sprintf("caption %.60q", id), nil
		}}
}
