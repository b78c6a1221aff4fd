package runaudit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nmn/format/table"
	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/recipe"
	"nmn/run"
)

// OutOfFold are logits of p(y=1) of training bags, by nets that had not learned them.
type OutOfFold struct {
	From   string    // where they are from, for people
	Bags   []int     // that have scores, as rows of the training split, ascending
	All    int       // training bags
	Logits []float32 // a row for each of Bags, a column for each class
	// Plain are the logits from which the rates are estimated, if Logits come from nets that were trained
	// through the rates; else nil.
	Plain  []float32
	Raised bool // these rates were raised (recipe.Config.Floor)
}

// Complete reports whether all training bags have scores.
func (s *OutOfFold) Complete() bool { return len(s.Bags) == s.All }

// foldsOf matches the folders of nets of folds that an audit has trained.
const foldsOf = "folds-"

// Scores returns the scores that the folders of run and audit hold: scores of all training bags if there are any, else
// scores of a part, as a run with rates online leaves them. It is no error if there are no scores at all.
func (a *Audit) Scores(ctx context.Context) (*OutOfFold, error) {
	s, err := a.foldsOfRun()
	if s != nil || err != nil {
		return s, err
	}
	for _, folds := range a.trainedFolds() {
		if s, err = a.trained(folds); s != nil || err != nil {
			return s, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return a.PartialScores()
}

// foldsOfRun returns the scores of the folds of the run itself, or nil if it does not have them for all bags.
func (a *Audit) foldsOfRun() (*OutOfFold, error) {
	dir, settings := filepath.Join(a.Dir, run.RecipeFolder), a.session.Config.Settings()
	if settings.Folds() == 0 {
		return nil, nil
	}
	plain, err := a.readScores(filepath.Join(dir, recipe.ScoresFile))
	if err != nil || plain == nil || !plain.Complete() {
		return nil, err
	}
	plain.From, plain.Raised = fmt.Sprintf("the %d folds of the run", settings.Folds()), settings.Recipe.Floor
	noisy, err := a.readScores(filepath.Join(dir, recipe.NoisyScoresFile))
	if err != nil || noisy == nil || !noisy.Complete() {
		return plain, err
	}
	plain.Logits, plain.Plain = noisy.Logits, plain.Logits
	plain.From += ", trained through its noise rates"
	return plain, nil
}

// trainedFolds returns the numbers of folds for which the audit has a folder, the largest first.
func (a *Audit) trainedFolds() []int {
	names, _ := filepath.Glob(filepath.Join(a.Folder(), foldsOf+"*"))
	var all []int
	for _, name := range names {
		if n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(name), foldsOf)); err == nil && n > 1 {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all
}

func (a *Audit) foldsFolder(folds int) string {
	return filepath.Join(a.Folder(), foldsOf+strconv.Itoa(folds))
}

// trained returns the scores of nets of this number of folds, if an audit has trained them to the end; else nil.
func (a *Audit) trained(folds int) (*OutOfFold, error) {
	dir := a.foldsFolder(folds)
	if !durable.Exists(filepath.Join(dir, a.session.Config.Settings().EstimateFile())) { // which comes last
		return nil, nil
	}
	s, err := a.readScores(filepath.Join(dir, recipe.ScoresFile))
	if err != nil || s == nil || !s.Complete() {
		return nil, err
	}
	s.From = fmt.Sprintf("nets of %d folds in %s", folds, dir)
	return s, nil
}

// PartialScores are the scores of some bags that a run with rates online has left, each from before its bag was
// learned.
func (a *Audit) PartialScores() (*OutOfFold, error) {
	train := a.session.Data.Train
	out := &OutOfFold{All: train.Len(), From: "nowhere"}
	if a.session.Config.ByFrame() && train.Videos() { // those scores are for frames
		return out, nil
	}
	logits, index, err := recipe.ReadOnline(filepath.Join(a.Dir, run.RecipeFolder, recipe.OnlineFile))
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	k := train.Vocabulary.Len()
	if err == nil && (len(logits) != len(index)*k || slices.Min(append(index, 0)) < 0 ||
		slices.Max(append(index, 0)) >= train.Len()) {
		err = fmt.Errorf("%d scores of %d samples, where %d samples × %d classes are needed", len(logits), len(index),
			train.Len(), k)
	}
	if err != nil {
		return nil, fmt.Errorf("scores of the first epoch of the run: %w", err)
	}
	order := make([]int, len(index))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return index[x] - index[y] })
	out.From, out.Logits = "the first epoch of the run, taken from each sample before it was learned",
		chosen(logits, order, k)
	out.Bags = chosen(index, order, 1)
	return out, nil
}

// readScores reads a file of scores and puts it into the order of the training bags. It returns nil if there
// is no file. A file with another vocabulary, or with bags that the data lack, is an error.
func (a *Audit) readScores(path string) (*OutOfFold, error) {
	if !durable.Exists(path) {
		return nil, nil
	}
	m, err := table.ReadScores(path, true)
	if err != nil {
		return nil, err
	}
	train := a.session.Data.Train
	if !slices.Equal(m.Words, train.Vocabulary.Texts()) {
		return nil, setting.Errorf("", "%s: its classes differ from the classes of the run's data: remove it with "+
			"its folder", path)
	}
	at := make([]int, train.Len())
	for row, id := range m.IDs {
		bag, ok := a.rows[id]
		if !ok {
			return nil, setting.Errorf("", "%s has scores of %.60q, which is not in the training data: remove it with "+
				"its folder", path, id)
		}
		at[bag] = row + 1
	}
	out, k := &OutOfFold{All: train.Len()}, len(m.Words)
	for bag, row := range at {
		if row > 0 {
			out.Bags = append(out.Bags, bag)
			out.Logits = append(out.Logits, m.Values[(row-1)*k:row*k]...)
		}
	}
	if a.Exclusive() {
		logOdds(out.Logits)
	}
	return out, nil
}
