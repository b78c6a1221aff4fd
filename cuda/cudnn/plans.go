package cudnn

import (
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nmn/internal/durable"
)

// Limits on stored plans: far above the needs of any network.
const (
	planFormat    = 2
	maxEntryBytes = 8 << 20
	maxPlanBytes  = 4 << 20 // cuDNN writes about 2 kB of a plan, and 45 to 200 kB with code that it has compiled
	maxKnobs      = 64
	maxEntries    = 4096 // in the folder of a device
)

// kept is a plan of one pass of one shape, in its own file. So programs that run at once do not overwrite
// each other's, and a damaged file loses only that plan.
type kept struct {
	Format  int    `json:"format"`
	Library int    `json:"cudnn"` // version
	Device  string `json:"device"`
	Plan    string `json:"plan"` // pass and shape, as plansKey writes them
	Choice
	// Sum is the SHA-256 of the text in Built, compressed by DEFLATE. cuDNN makes the plan from the text
	// without choosing or compiling anything. Both are empty if cuDNN has no such text.
	Sum   string `json:"sha256,omitempty"`
	Built []byte `json:"built,omitempty"`
}

// plans are the stored plans of one device and one version of cuDNN, in a folder.
type plans struct {
	folder  string // empty for none
	library int
	device  string
}

func plansKey(pass Pass, c Conv) string { return pass.String() + " of " + c.String() }

// plain writes text in letters and digits of ASCII, with - for anything between.
func plain(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r < '0' || r > '9' && r < 'a' || r > 'z'
	})
	return strings.Join(words, "-")
}

// openPlans opens the folder of a device and a version below another. If below is empty, nothing is stored.
func openPlans(below string, library int, device string) *plans {
	p := &plans{library: library, device: device}
	if below != "" {
		p.folder = filepath.Join(below, fmt.Sprintf("cudnn-%d-%s", library, plain(device)))
	}
	return p
}

func (p *plans) file(key string) string { return filepath.Join(p.folder, plain(key)+".json") }

// has reports whether there is a file of a plan, which may be unfit.
func (p *plans) has(key string) bool { return p.folder != "" && durable.Exists(p.file(key)) }

// read reads the plan of a pass and its text, nil if there is none. A damaged plan, or one of another pass,
// is an error that names the file.
func (p *plans) read(key string) (k *kept, text []byte, err error) {
	if p.folder == "" {
		return nil, nil, nil
	}
	path := p.file(key)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	k, text, err = decodePlan(f)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	case k.Library != p.library || k.Device != p.device || k.Plan != key:
		return nil, nil, fmt.Errorf("%s: it is the plan %q for cuDNN %d on %q, this is %q for %d on %q", path, k.Plan,
			k.Library, k.Device, key, p.library, p.device)
	}
	return k, text, nil
}

// decodePlan reads and checks a plan.
func decodePlan(r io.Reader) (*kept, []byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, maxEntryBytes+1))
	if err != nil {
		return nil, nil, err
	}
	if len(content) > maxEntryBytes {
		return nil, nil, fmt.Errorf("more than %d bytes", maxEntryBytes)
	}
	k := &kept{}
	if err := json.Unmarshal(content, k); err != nil {
		return nil, nil, err
	}
	if k.Format != planFormat {
		return nil, nil, fmt.Errorf("format %d, want %d", k.Format, planFormat)
	}
	if err := k.Choice.check(); err != nil {
		return nil, nil, err
	}
	text, err := k.text()
	return k, text, err
}

// text is cuDNN's text of the plan, or nil. A text that has changed since it was written is an error: cuDNN
// receives only texts that it has made.
func (k *kept) text() ([]byte, error) {
	if len(k.Built) == 0 {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(k.Built)), maxPlanBytes+1))
	if err != nil {
		return nil, fmt.Errorf("its built plan: %w", err)
	}
	if len(text) > maxPlanBytes {
		return nil, fmt.Errorf("its built plan has more than %d bytes", maxPlanBytes)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != k.Sum {
		return nil, errors.New("its built plan is damaged: its SHA-256 is another")
	}
	return text, nil
}

// check refuses choices that cuDNN must not receive. cuDNN may still refuse the others.
func (c Choice) check() error {
	bad := func(v int64) bool { return v < 0 || v > math.MaxInt32 }
	switch {
	case bad(c.Index):
		return fmt.Errorf("engine %d", c.Index)
	case c.Workspace < 0:
		return fmt.Errorf("workspace of %d bytes", c.Workspace)
	case c.From < 0:
		return fmt.Errorf("taken from a batch of %d", c.From)
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

// write stores a plan, with its text if there is one.
func (p *plans) write(key string, c Choice, text []byte) error {
	k := kept{Format: planFormat, Library: p.library, Device: p.device, Plan: key, Choice: c}
	if len(text) > 0 {
		sum := sha256.Sum256(text)
		k.Sum = hex.EncodeToString(sum[:])
		var built bytes.Buffer
		w, err := flate.NewWriter(&built, flate.BestSpeed)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		if err = errors.Join(err, w.Close()); err != nil {
			return err
		}
		k.Built = built.Bytes()
	}
	content, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.folder, 0o777); err != nil {
		return err
	}
	return durable.WriteFile(p.file(key), append(content, '\n'), 0o666)
}

// batches lists the batches N with stored plans, for a pass and for shapes equal to c except for N,
// ascending.
func (p *plans) batches(pass Pass, c Conv) []int {
	if p.folder == "" {
		return nil
	}
	entries, err := os.ReadDir(p.folder)
	if err != nil {
		return nil
	}
	c.N = 0
	begin, end, _ := strings.Cut(plain(plansKey(pass, c))+".json", "-of-0-")
	begin, end = begin+"-of-", "-"+end
	var list []int
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), begin)
		middle, fits := strings.CutSuffix(rest, end)
		if n, err := strconv.Atoi(middle); ok && fits && err == nil && n > 0 {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// nearest is the stored plan of the batch nearest to c's, within a factor of two: the fastest plan for one is
// most often the fastest for the other. Plans that were themselves taken over from another batch count only
// within that batch's own reach.
func (p *plans) nearest(pass Pass, c Conv) *kept {
	const reach = 2
	ratio := func(n int) float64 { return math.Max(float64(n)/float64(c.N), float64(c.N)/float64(n)) }
	list := p.batches(pass, c)
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(ratio(a), ratio(b)) })
	for _, n := range list {
		if n == c.N || ratio(n) > reach {
			continue
		}
		other := c
		other.N = n
		k, _, err := p.read(plansKey(pass, other))
		if err != nil || k == nil || k.Direct || k.Kernel != "" || k.From > 0 && ratio(k.From) > reach {
			continue
		}
		if k.From == 0 {
			k.From = n
		}
		return k
	}
	return nil
}

// trim removes the oldest plans if there are more than any use explains.
func (p *plans) trim() error {
	entries, err := os.ReadDir(p.folder)
	if err != nil || len(entries) <= maxEntries {
		return nil // no folder is no plans
	}
	type file struct {
		name  string
		nanos int64
	}
	var files []file
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, file{e.Name(), info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.nanos, b.nanos) })
	for _, f := range files[:max(0, len(files)-maxEntries/2)] {
		if err := os.Remove(filepath.Join(p.folder, f.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
