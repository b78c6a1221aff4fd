package mlflow

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"nmn/internal/durable"
)

// Files of a run folder.
const (
	// StateFile says which run of which server is that of the folder.
	StateFile = "mlflow.json"
	// SpoolFile holds what the server has not taken yet.
	SpoolFile = "mlflow.jsonl"
)

// mostSpooled is how many bytes are kept for a server that is gone: days of training.
const mostSpooled = 64 << 20

// state is the content of StateFile.
type state struct {
	Server       string `json:"server"`
	Experiment   string `json:"experiment"`
	ExperimentID string `json:"experiment_id,omitempty"`
	RunID        string `json:"run_id,omitempty"`
	ArtifactURI  string `json:"artifact_uri,omitempty"`
	// Key is a tag of the run, chosen before it is made: by it a run is found again whose making nobody has answered.
	Key string `json:"key"`
	// Begun says that the parameters have been sent, which a server takes once.
	Begun bool `json:"begun,omitempty"`
}

// readState reads the state of a folder; another one where it is of another server or experiment.
func readState(dir, server, experiment string) (*state, error) {
	path := filepath.Join(dir, StateFile)
	s, err := durable.LoadJSON[state](path, "remove the file to begin another MLflow run")
	if err != nil {
		return nil, err
	}
	if s == nil || s.Server != server || s.Experiment != experiment || s.Key == "" {
		s = &state{Server: server, Experiment: experiment, Key: rand.Text()}
		if err := os.Remove(filepath.Join(dir, SpoolFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err // entries for another run
		}
		return s, durable.SaveJSON(path, s)
	}
	return s, nil
}

// spool is the file of what could not be sent.
type spool struct{ path string }

// empty reports whether there is nothing in it.
func (s spool) empty() bool {
	info, err := os.Stat(s.path)
	return err != nil || info.Size() == 0
}

// add appends entries. It reports false where they found no place.
func (s spool) add(entries ...entry) bool {
	if info, err := os.Stat(s.path); err == nil && info.Size() > mostSpooled {
		return false
	}
	journal, err := durable.OpenJournal(s.path, 0, nil)
	if err != nil {
		return false
	}
	for _, e := range entries {
		line, err := json.Marshal(e)
		if err != nil {
			continue // an entry is plain values
		}
		_, _ = journal.Write(append(line, '\n')) // Close tells of errors
	}
	return journal.Close() == nil
}

// take reads all entries, joined; a line that a kill has cut is left out.
func (s spool) take() (entries []entry, err error) {
	content, err := os.ReadFile(s.path)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, len(content)+1)
	for lines.Scan() {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		if n := len(entries); n == 0 || !entries[n-1].join(e) {
			entries = append(entries, e)
		}
	}
	return entries, lines.Err()
}

// keep leaves only these entries.
func (s spool) keep(entries []entry) error {
	if len(entries) == 0 {
		return os.Remove(s.path)
	}
	var b bytes.Buffer
	for _, e := range entries {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	return durable.Save(s.path, b.Bytes())
}
