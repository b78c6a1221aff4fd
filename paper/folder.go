package paper

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/run"
)

// Files of the folder of a reproduction.
const (
	planFile     = "plan.json" // written first: by it the folder is known as ours
	PageFile     = "index.html"
	MarkdownFile = "reproduction.md"
	RecordFile   = "reproduction.json" // all that is needed to run it again
)

// planForm is the form of the folder: a program with another one makes other runs of the same settings, or keeps them
// in other places.
const planForm = 1

type planRecord struct {
	Form     int      `json:"form"`
	Settings Settings `json:"settings"`
}

// lockFolder makes the folder of the reproduction, or takes it, alone until release is called.
func (p *Plan) lockFolder(ctx context.Context, o *Options) (release func() error, err error) {
	if err := p.Claim(); err != nil {
		return nil, err
	}
	return run.LockFolder(ctx, p.Settings.Dir, o.log())
}

// Claim makes the folder with the plan, whose settings it keeps from then on. It refuses a folder with other files.
func (p *Plan) Claim() error {
	if err := p.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(p.Settings.Dir, 0o777); err != nil {
		return fmt.Errorf("reproduce: the folder cannot be made: %w", err)
	}
	path := filepath.Join(p.Settings.Dir, planFile)
	if durable.Exists(path) {
		return nil
	}
	return durable.SaveJSON(path, planRecord{planForm, p.Settings})
}

// readPlan reads the plan of the reproduction in a folder. It returns nil if there is none.
func readPlan(dir string) (*planRecord, error) {
	there, err := durable.LoadJSON[planRecord](filepath.Join(dir, planFile),
		"name another `run_dir`, or remove that folder")
	if err != nil {
		return nil, &setting.Error{Key: "run_dir", Reason: err}
	}
	return there, nil
}

// check refuses a folder with another reproduction, or with other files that would be overwritten.
func (p *Plan) check() error {
	dir := p.Settings.Dir
	path := filepath.Join(dir, planFile)
	there, err := readPlan(dir)
	if err != nil {
		return err
	}
	if there == nil {
		return run.RefuseForeign(dir, planFile, PageFile, MarkdownFile, RecordFile, likelihoodFile)
	}
	if there.Form != planForm {
		return setting.Errorf("run_dir", "%s: it was written by another version of nmn (form %d, and this one has %d): go "+
			"on with that version, or name another `run_dir`", path, there.Form, planForm)
	}
	was, is := reflect.ValueOf(there.Settings), reflect.ValueOf(p.Settings)
	for i := range was.NumField() {
		key := was.Type().Field(i).Tag.Get("json")
		if key == "-" || reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()) {
			continue
		}
		key, _, _ = strings.Cut(key, ",")
		return setting.Errorf("run_dir", "%s holds another reproduction: its `reproduce.%s` is %v, this one's %v; name "+
			"another `run_dir`, or remove that folder", dir, key, shown(was.Field(i)), shown(is.Field(i)))
	}
	return nil
}

func shown(v reflect.Value) string {
	if v.IsZero() {
		return "none"
	}
	return fmt.Sprint(v.Interface())
}
