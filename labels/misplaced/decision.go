package misplaced

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
	Drop labels.Verdict = "drop" // the caption belongs to another bag
	Keep labels.Verdict = "keep" // the caption belongs to its bag
)

// Decisions are the verdicts of a reviewer, by the identifiers of captions.
type Decisions map[string]labels.Verdict

// Fingerprint distinguishes the texts of captions: 16 hexadecimal digits of FNV-1a.
func Fingerprint(caption string) string {
	h := fnv.New64a()
	io.WriteString(h, caption) // a hash cannot fail
	return fmt.Sprintf("%016x", h.Sum64())
}

// ReadDecisionsFile reads the CSV that the page of an audit saves. Each caption has annotation_id, decision
// (drop or keep) and, optionally, the Fingerprint of the text that was reviewed. A missing caption, a text
// that has changed since, and a second decision on a caption are errors. They name the file and the line, and
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
				return "", "", fmt.Errorf("the text of caption %.60q has changed since the decision: the decision is for other "+
					"captions", id)
			}
			return id, fmt.Sprintf("caption %.60q", id), nil
		}}
}
