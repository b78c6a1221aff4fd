package labels

import (
	"errors"
	"io"
	"io/fs"
	"strings"

	"nmn/internal/input"
	"nmn/internal/setting"
)

// EnoughToApply is the least number of labels at which an audit may correct labels without decisions of a person.
const EnoughToApply = 5000

// RefuseForeign refuses a file that is there and is no record of changes of these columns: its name was made beside that
// of the corrected labels, not given.
func RefuseForeign(path string, columns []string) error {
	file, err := input.OpenFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	header := strings.Join(columns, ",") + "\n"
	start := make([]byte, len(header))
	if _, err := io.ReadFull(file, start); err != nil || string(start) != header {
		return setting.Errorf("audit.output", "%s would be overwritten, and is no record of changes: give another "+
			"`audit.output`, or move it away", path)
	}
	return nil
}
