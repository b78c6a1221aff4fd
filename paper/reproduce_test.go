package paper

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/internal/setting"
	"nmn/report"
	"nmn/run"
	"nmn/train"
)

// tiny are the settings of a reproduction of seconds.
func tiny(t *testing.T, only ...Part) Settings {
	t.Helper()
	s := Defaults(filepath.Join(t.TempDir(), "reproduction"))
	s.Size, s.Seeds, s.Only = Smoke, []uint64{1}, only
	s.Run.Device, s.Run.Threads = "cpu", 1
	return s
}

func planOf(t *testing.T, s Settings) *Plan {
	t.Helper()
	return expect.Value(New(s))(t)
}

func TestNew_SharesRunsAmongParts(t *testing.T) {
	s := tiny(t)
	s.Seeds = []uint64{1, 2, 3}
	p := planOf(t, s)
	var parts []Part
	for _, part := range p.Parts {
		parts = append(parts, part.Name)
		if part.Skip != "" {
			t.Errorf("%s is skipped: %s", part.Name, part.Skip)
		}
	}
	if !slices.Equal(parts, Parts()) {
		t.Errorf("parts %q, want %q", parts, Parts())
	}
	tasks := expect.Value(p.Tasks())(t)
	folders := map[string]bool{}
	for i, task := range tasks {
		if folders[task.Folder] || task.Number != i || task.After >= i {
			t.Errorf("%+v: its folder is another's, or its order wrong", task)
		}
		folders[task.Folder] = true
	}
	// 5 levels × 3 seeds × 8 arms; 3 × 8 on clips; captioners; EM; held-rates and caption-filter with
	// their stage 1 at 3 levels.
	if want := 120 + 24 + 1 + 3 + 27; len(tasks) != want {
		t.Errorf("%d tasks, want %d", len(tasks), want)
	}
	var used []Part
	for _, u := range p.Units {
		used = append(used, u.parts...)
	}
	for _, part := range Parts() {
		if part != Figure3 && !slices.Contains(used, part) {
			t.Errorf("nothing is trained for %s", part)
		}
	}
}

func TestValidate_NamesTheSetting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	expect.OK(t, os.WriteFile(file, []byte("x"), 0o666))
	fields := []string{"size", "only", "seeds", "run_dir", "init", "coco", "msrvtt"}
	for says, change := range map[string]func(*Settings){
		"`reproduce.size` is \"huge\"":         func(s *Settings) { s.Size = "huge" },
		"`reproduce.only` names \"table9\"":    func(s *Settings) { s.Only = []Part{"table9"} },
		"at least one of `reproduce.seeds`":    func(s *Settings) { s.Seeds = nil },
		"seed 0: seeds are different":          func(s *Settings) { s.Seeds = []uint64{0} },
		"seed 2: seeds are different":          func(s *Settings) { s.Seeds = []uint64{2, 2} },
		"`run_dir` is empty":                   func(s *Settings) { s.Dir = "" },
		"give `reproduce.coco`":                func(s *Settings) { s.Init = file },
		"`reproduce.coco`: there is no folder": func(s *Settings) { s.COCO = file + "s" },
		"name the folder that the data set":    func(s *Settings) { s.MSRVTT = file },
		"`reproduce.coco`: ":                   func(s *Settings) { s.COCO = filepath.Join(file, "x") },
		"seed 3: seeds are different":          func(s *Settings) { s.Seeds, s.Only = []uint64{3, 4, 3}, []Part{Figure3} },
		"is no file of weights that can be read": func(s *Settings) {
			s.COCO, s.Init = filepath.Dir(file), filepath.Dir(file)
		},
	} {
		s := tiny(t)
		change(&s)
		_, err := New(s)
		var mistake *setting.Error
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "%!") ||
			!slices.Contains(fields, mistake.Key) {
			t.Errorf("%v; want a mistake that says %q", err, says)
		}
	}
}

func TestClaim_RefusesFoldersOfOthers(t *testing.T) {
	another := func(size Size, seeds ...uint64) func(string) {
		return func(dir string) {
			s := Defaults(dir)
			s.Size, s.Seeds = size, seeds
			put(t, object(t, planRecord{planForm, s}), dir, planFile)
		}
	}
	for says, prepare := range map[string]func(dir string){
		"its `reproduce.seeds` is [1 2], this one's [1]": another(Smoke, 1, 2),
		"its `reproduce.coco` is none, this one's":       another(Smoke, 1),
		"its `reproduce.size` is quick":                  another(Quick, 1),
		"by another version of nmn (form 7":              func(dir string) { put(t, `{"form": 7}`, dir, planFile) },
		"index.html would be overwritten":                func(dir string) { put(t, "", dir, PageFile) },
		"plan.json":                                      func(dir string) { put(t, "{", dir, planFile) },
	} {
		s := tiny(t, Figure3)
		expect.OK(t, os.MkdirAll(s.Dir, 0o777))
		if strings.Contains(says, "reproduce.coco") {
			s.COCO = t.TempDir()
		}
		prepare(s.Dir)
		before := tree(t, s.Dir)
		_, err := planOf(t, s).Run(t.Context(), Options{})
		var mistake *setting.Error
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want a mistake that says %q", err, says)
		}
		if after := tree(t, s.Dir); !slices.Equal(after, before) {
			t.Errorf("%s: files %q, want %q", says, after, before)
		}
	}
	s := tiny(t, Figure3)
	expect.OK(t, os.WriteFile(s.Dir, nil, 0o666))
	expect.Refusal(t, expect.ErrorOf(planOf(t, s).Run(t.Context(), Options{})), s.Dir)
}

func tree(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries := expect.Value(os.ReadDir(dir))(t)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// written are the files that a reproduction has written, without times, and the digests of its nets.
func written(t *testing.T, dir string) map[string]string {
	t.Helper()
	seconds := regexp.MustCompile(`"seconds": [0-9.e+-]+`)
	all := map[string]string{}
	for _, name := range []string{PageFile, MarkdownFile, RecordFile} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		expect.OK(t, err)
		all[name] = seconds.ReplaceAllString(string(content), `"seconds": 0`)
	}
	for _, path := range expect.Value(filepath.Glob(filepath.Join(dir, "*", "*", "*", "*", train.LastName)))(t) {
		all[strings.TrimPrefix(path, dir)] = fmt.Sprintf("%x", sha256.Sum256(expect.Value(os.ReadFile(path))(t)))
	}
	return all
}

func sameBytes(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			a, b := strings.Split(got[name], "\n"), strings.Split(want[name], "\n")
			for i := range a {
				if i >= len(b) || a[i] != b[i] {
					t.Errorf("%s differs in line %d: %.200q", name, i+1, a[i])
					break
				}
			}
		}
	}
}

// TestRun_InterruptedTenTimes ends a reproduction ten times after a few steps. In the end its files must
// equal the files of an undisturbed reproduction.
func TestRun_InterruptedTenTimes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: interrupts runs and trains them again")
	}
	whole, broken := tiny(t, EM, Figure3, Figure4), tiny(t, EM, Figure3, Figure4)
	var told []string
	if _, err := planOf(t, whole).Run(t.Context(), Options{Notify: func(m run.Message) {
		if m.Topic == "part" {
			told = append(told, m.Text)
		}
	}}); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(told, "; "); text != "nets on scenes (1 of 2): for figure4; nets on scenes (2 of 2): for em" {
		t.Errorf("told %s", text)
	}
	interrupted := 0
	for i := range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		steps := 0
		o := Options{Observe: run.Observer{Training: func(run.Training) []train.Observer {
			return []train.Observer{{Step: func(train.StepDone) {
				if steps++; steps > i%2 {
					cancel()
				}
			}}}
		}}}
		_, err := planOf(t, broken).Run(ctx, o)
		cancel()
		if errors.Is(err, run.ErrInterrupted) {
			interrupted++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if interrupted < 10 {
		t.Errorf("interrupted %d times, want 10", interrupted)
	}
	if durable.Exists(filepath.Join(broken.Dir, PageFile)) {
		t.Error("there is a page of a reproduction that is not complete")
	}
	out := expect.Value(planOf(t, broken).Run(t.Context(), Options{}))(t)
	want := written(t, whole.Dir)
	sameBytes(t, written(t, broken.Dir), want)
	if len(out.Results) == 0 || len(out.Verdicts) == 0 {
		t.Error("there are no results, or no verdicts")
	}
	has(t, want[PageFile], "NMN-FD &#43; MIL", "Predictions of the arms with MIL, seed 1", "data:image/jpeg",
		"A small problem", "None was picked by hand", "not tested")
	var r record
	expect.OK(t, json.Unmarshal([]byte(want[RecordFile]), &r))
	if u := r.Units[0]; r.Form != planForm || r.Program != run.ThisBuild() || len(u.Runs) != 4 ||
		u.Data[0].Bags != 48 || len(u.Data[0].SHA256) != 64 || !strings.Contains(u.Config, "stage1_epochs: 1") ||
		len(u.Runs[0].Fingerprint) != 64 {
		t.Errorf("record of %+v", u)
	}
}

func TestTasks_CollectedEqualOneRun(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: trains many runs")
	}
	whole, tasked := tiny(t, Observed, Figure3), tiny(t, Observed, Figure3)
	expect.OK(t, expect.ErrorOf(planOf(t, whole).Run(t.Context(), Options{})))
	p := planOf(t, tasked)
	tasks, err := p.Tasks()
	if err != nil || len(tasks) != 4 || tasks[1].After >= 0 || tasks[3].After != 1 {
		t.Fatalf("tasks %+v (%v)", tasks, err)
	}
	if _, _, err := planOf(t, tasked).RunTask(t.Context(), Options{}, 3); err == nil ||
		!strings.Contains(err.Error(), "which is not complete: do that one first") {
		t.Errorf("a task whose stage 1 is missing: %v", err)
	}
	for _, number := range []int{1, 3, 0, 2} {
		if _, reused, err := planOf(t, tasked).RunTask(t.Context(), Options{}, number); err != nil || reused {
			t.Fatalf("task %d: reused %t (%v)", number, reused, err)
		}
		if number == 3 {
			collectedInPart(t, tasked)
		}
	}
	if _, reused, err := planOf(t, tasked).RunTask(t.Context(), Options{}, 0); err != nil || !reused {
		t.Errorf("task 0 again: reused %t (%v)", reused, err)
	}
	if _, _, err := planOf(t, tasked).RunTask(ended(t), Options{}, 2); !errors.Is(err, run.ErrInterrupted) {
		t.Errorf("a task after the end: %v", err)
	}
	var mistake *setting.Error
	for _, number := range []int{-1, 4} {
		if task, reused, err := p.RunTask(t.Context(), Options{}, number); !errors.As(err, &mistake) || task != nil ||
			reused || !strings.Contains(err.Error(), "the tasks are 0 to 3") {
			t.Errorf("task %d of 4: %v, reused %t (%v)", number, task, reused, err)
		}
	}
	expect.OK(t, expect.ErrorOf(planOf(t, tasked).Collect(t.Context(), Options{}, false)))
	sameBytes(t, written(t, tasked.Dir), written(t, whole.Dir))
}

// The folder is given back when the work is done, and not when garbage is collected.
func TestRun_GivesTheFolderBack(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	s := tiny(t, Figure3)
	expect.OK(t, expect.ErrorOf(planOf(t, s).Run(t.Context(), Options{})))
	free(t, s.Dir)
	expect.OK(t, expect.ErrorOf(planOf(t, s).Collect(t.Context(), Options{}, false)))
	free(t, s.Dir)
}

// A page is not made of runs that have failed.
func TestRun_FailsAsItsRunsDo(t *testing.T) {
	t.Parallel()
	p := planOf(t, tiny(t, Observed))
	tasks := expect.Value(p.Tasks())(t)
	taken := tasks[len(tasks)-1].Folder
	expect.OK(t, os.MkdirAll(filepath.Dir(taken), 0o777))
	if err := os.WriteFile(taken, nil, 0o666); err != nil { // no folder
		t.Fatal(err)
	}
	expect.Refusal(t, expect.ErrorOf(p.Run(t.Context(), Options{})), taken)
}

// Nothing is done with sets that were not read to the end.
func TestWithSession_EndsWithTheContext(t *testing.T) {
	p := planOf(t, tiny(t, Observed))
	ctx, cancel := context.WithCancel(t.Context())
	opened := Options{Observe: run.Observer{Message: func(m run.Message) {
		if m.Topic == "" { // what the sets are, when they are open
			cancel()
		}
	}}}
	_, err := p.withSession(ctx, &opened, p.Units[0].Grid, func(*run.Session) ([]report.Run, int, error) {
		t.Error("runs of sets that were not read")
		return nil, 0, nil
	})
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// free fails if a process holds the folder.
func free(t *testing.T, dir string) {
	t.Helper()
	release, err := run.LockFolder(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err == nil {
		err = release()
	}
	if err != nil {
		t.Errorf("the folder is not given back: %v", err)
	}
}

// collectedInPart collects what is complete after half of the tasks, which is refused unless it is asked for.
func collectedInPart(t *testing.T, s Settings) {
	t.Helper()
	var missing *MissingError
	if _, err := planOf(t, s).Collect(t.Context(), Options{}, false); !errors.As(err, &missing) ||
		!strings.Contains(err.Error(), "2 of 4 tasks are not complete: 0,2") {
		t.Errorf("collected before all are complete: %v", err)
	}
	out := expect.Value(planOf(t, s).Collect(t.Context(), Options{}, true))(t)
	if !strings.HasSuffix(out.Page.Facts[3].Meaning, "; not complete: 2") || len(out.Results) == 0 {
		t.Errorf("collected in part: %+v", out.Page.Facts)
	}
	empty := tiny(t, Observed)
	if _, err := planOf(t, empty).Collect(t.Context(), Options{}, true); !errors.As(err, &missing) ||
		len(missing.Tasks) != 4 {
		t.Errorf("collected before any is complete: %v", err)
	}
	if _, err := os.Stat(empty.Dir); err == nil {
		t.Error("a page of nothing is written")
	}
}

func TestRun_Captions(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: trains many runs")
	}
	t.Parallel()
	s := tiny(t, Table4)
	first := expect.Value(planOf(t, s).Run(t.Context(), Options{}))(t)
	if len(first.Results) != 3*4 { // arms × measures
		t.Errorf("%d results", len(first.Results))
	}
	again := expect.Value(planOf(t, s).Run(t.Context(), Options{}))(t)
	if a, b := fmt.Sprint(first.Results), fmt.Sprint(again.Results); a != b {
		t.Errorf("again: %s, want %s", b, a)
	}
	recordsCaptioners(t, s.Dir)
	scores := filepath.Join(s.Dir, "moving-scenes-captions", scoresFile)
	expect.OK(t, os.WriteFile(scores, []byte(`{"rows": []}`), 0o666))
	expect.Refusal(t, expect.ErrorOf(planOf(t, s).Run(t.Context(), Options{})), "remove the file")
}

// recordsCaptioners finds the clips, nets and captioners of Table 4 in the record, and their settings on the page.
func recordsCaptioners(t *testing.T, dir string) {
	t.Helper()
	files := written(t, dir)
	var r record
	expect.OK(t, json.Unmarshal([]byte(files[RecordFile]), &r))
	u := r.Units[0]
	// stage 1 and three arms; captioners on each arm, and on the truth
	if len(u.Data) != 2 || u.Data[1].Bags != 8 || len(u.Runs) != 4+4 {
		t.Errorf("record of %+v", u)
	}
	for _, one := range u.Runs {
		if len(one.Fingerprint) != 64 || one.Steps < 1 || one.Program != nil || filepath.IsAbs(one.Folder) {
			t.Errorf("record of a run: %+v", one)
		}
	}
	has(t, files[PageFile], "All settings of captioners on moving-scenes, for table4", "hidden: 12", "stage1_epochs: 1")
}

// has fails for each part that a text lacks.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// ended is a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
