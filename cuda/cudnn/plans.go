package cudnn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"nmn/internal/durable"
)

// Bounds of a file of plans: far above what any network needs.
const (
	plansFormat   = 1
	maxPlansBytes = 16 << 20
	maxKnobs      = 64
)

// plans are the choices for one device and one version of cuDNN, kept in a file.
type plans struct {
	Format  int               `json:"format"`
	Library int               `json:"cudnn"` // version
	Device  string            `json:"device"`
	Choices map[string]Choice `json:"plans"` // by pass and shape, as plansKey writes them
}

func newPlans(library int, device string) *plans {
	return &plans{Format: plansFormat, Library: library, Device: device, Choices: map[string]Choice{}}
}

func plansKey(pass Pass, c Conv) string { return pass.String() + " of " + c.String() }

// readPlans reads a file of plans for a device and a version. A file that does not exist gives no
// plans; one that is corrupt, or for something else, gives no plans and an error that says why.
func readPlans(path string, library int, device string) (*plans, error) {
	empty := newPlans(library, device)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return empty, err
	}
	defer f.Close()
	p, err := decodePlans(f)
	switch {
	case err != nil:
		return empty, fmt.Errorf("%s: %w", path, err)
	case p.Library != library || p.Device != device:
		return empty, fmt.Errorf("%s: it is for cuDNN %d on %q, this is %d on %q", path, p.Library, p.Device, library, device)
	}
	return p, nil
}

// decodePlans reads and checks plans.
func decodePlans(r io.Reader) (*plans, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxPlansBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxPlansBytes {
		return nil, fmt.Errorf("more than %d bytes", maxPlansBytes)
	}
	p := &plans{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, err
	}
	if p.Format != plansFormat {
		return nil, fmt.Errorf("format %d, want %d", p.Format, plansFormat)
	}
	if p.Choices == nil {
		return nil, errors.New("plans are missing")
	}
	for key, c := range p.Choices {
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("plan %q: %w", key, err)
		}
	}
	return p, nil
}

// check refuses what cuDNN must not be given. What it does give may still be refused by cuDNN.
func (c Choice) check() error {
	bad := func(v int64) bool { return v < 0 || v > math.MaxInt32 }
	switch {
	case bad(c.Index):
		return fmt.Errorf("engine %d", c.Index)
	case c.Workspace < 0:
		return fmt.Errorf("workspace of %d bytes", c.Workspace)
	case len(c.Knobs) > maxKnobs:
		return fmt.Errorf("%d knobs, at most %d", len(c.Knobs), maxKnobs)
	case math.IsNaN(c.Microseconds) || c.Microseconds < 0:
		return fmt.Errorf("%v microseconds", c.Microseconds)
	}
	for _, k := range c.Knobs {
		if bad(k.Type) || k.Value < math.MinInt32 || k.Value > math.MaxInt32 {
			return fmt.Errorf("knob %d set to %d", k.Type, k.Value)
		}
	}
	return nil
}

// write replaces the file by the plans.
func (p *plans) write(path string) error {
	text, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return durable.WriteFile(path, append(text, '\n'), 0o666)
}
