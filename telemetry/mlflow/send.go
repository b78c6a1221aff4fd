package mlflow

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"time"

	"nmn/internal/durable"
)

// keyTag is the tag by which a run is found whose making nobody has answered.
const keyTag = "nmn.key"

// send tells the server of one entry, once it has the run.
func (r *Run) send(ctx context.Context, e entry) error {
	if err := r.make(ctx); err != nil {
		return err
	}
	id := r.state.RunID
	switch {
	case e.File != "":
		ctx, cancel := context.WithTimeout(ctx, r.options.patience.file)
		defer cancel()
		return r.client.upload(ctx, r.state.ArtifactURI, filepath.Join(r.options.Dir, e.File))
	case e.Status != "":
		update := map[string]any{"run_id": id, "status": e.Status}
		if e.Ended > 0 {
			update["end_time"] = e.Ended
		}
		return r.client.call(ctx, "runs/update", nil, update, nil)
	}
	batch := map[string]any{"run_id": id} // the server fails on a list that is null
	if len(e.Metrics) > 0 {
		batch["metrics"] = e.Metrics
	}
	if len(e.Tags) > 0 {
		batch["tags"] = e.Tags
	}
	return r.client.call(ctx, "runs/log-batch", nil, batch, nil)
}

// make has the server make the run, and sends its parameters, where that has not been done.
func (r *Run) make(ctx context.Context) error {
	if r.state.Begun {
		return nil
	}
	s := r.state
	if s.ExperimentID == "" {
		id, err := r.experiment(ctx)
		if err != nil {
			return err
		}
		s.ExperimentID = id
	}
	if s.RunID == "" {
		if err := r.create(ctx, &s); err != nil {
			return err
		}
		if err := r.save(s); err != nil {
			return err
		}
	}
	params := pairsOf(r.options.Params, longestParam)
	for len(params) > 0 {
		n := min(len(params), mostPairs)
		err := r.client.call(ctx, "runs/log-batch", nil, map[string]any{"run_id": s.RunID, "params": params[:n]}, nil)
		var refused *refusal
		if errors.As(err, &refused) {
			r.warn("parameters are left out", err)
		} else if err != nil {
			return err
		}
		params = params[n:]
	}
	s.Begun = true
	return r.save(s)
}

// save keeps the state, in the file first.
func (r *Run) save(s state) error {
	if err := durable.SaveJSON(filepath.Join(r.options.Dir, StateFile), &s); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = s
	return nil
}

// experiment finds the experiment by its name, or makes it. Whoever makes it at the same time is as good.
func (r *Run) experiment(ctx context.Context) (string, error) {
	var found struct {
		Experiment struct {
			ID    string `json:"experiment_id"`
			Stage string `json:"lifecycle_stage"`
		} `json:"experiment"`
	}
	name := url.Values{"experiment_name": {r.options.Experiment}}
	for range 2 {
		err := r.client.call(ctx, "experiments/get-by-name", name, nil, &found)
		switch {
		case err == nil && found.Experiment.Stage == "deleted":
			return "", errors.New("the experiment " + r.options.Experiment + " has been deleted: restore it, or name another")
		case err == nil && found.Experiment.ID == "":
			return "", errors.New("the answer names no experiment: this is not an MLflow server")
		case err == nil:
			return found.Experiment.ID, nil
		case !refusedWith(err, "RESOURCE_DOES_NOT_EXIST"):
			return "", unfinished(err)
		}
		err = r.client.call(ctx, "experiments/create", nil, map[string]any{"name": r.options.Experiment}, nil)
		if err != nil && !refusedWith(err, "RESOURCE_ALREADY_EXISTS") {
			return "", unfinished(err)
		}
	}
	return "", errors.New("the experiment " + r.options.Experiment + " can neither be found nor made")
}

// unfinished makes a refusal an error that may pass: without a run nothing can be sent, and nothing is lost.
func unfinished(err error) error {
	var refused *refusal
	if errors.As(err, &refused) {
		return errors.New(refused.Error())
	}
	return err
}

// info is what the server says of a run.
type info struct {
	Info struct {
		ID          string `json:"run_id"`
		ArtifactURI string `json:"artifact_uri"`
	} `json:"info"`
}

// create has the run made, unless it was and the answer was lost.
func (r *Run) create(ctx context.Context, s *state) error {
	tags := map[string]string{keyTag: s.Key, "mlflow.runName": r.options.Name, "mlflow.source.name": "nmn",
		"mlflow.source.type": "JOB"}
	if p := r.options.Parent; p != nil {
		if tags["mlflow.parentRunId"] = p.id(); p.id() == "" {
			return errors.New("the run that this one is a part of is not there yet")
		}
	}
	for k, v := range r.options.Tags {
		tags[k] = v
	}
	var found struct {
		Runs []info `json:"runs"`
	}
	search := map[string]any{"experiment_ids": []string{s.ExperimentID}, "max_results": 1,
		"filter": "tags.`" + keyTag + "` = '" + s.Key + "'"}
	if err := r.client.call(ctx, "runs/search", nil, search, &found); err != nil {
		return unfinished(err)
	}
	var made struct {
		Run info `json:"run"`
	}
	if len(found.Runs) > 0 {
		made.Run = found.Runs[0]
	} else if err := r.client.call(ctx, "runs/create", nil, map[string]any{"experiment_id": s.ExperimentID,
		"run_name": cut(r.options.Name, longestKey), "start_time": time.Now().UnixMilli(),
		"tags": pairsOf(tags, longestTag)}, &made); err != nil {
		return unfinished(err)
	}
	if made.Run.Info.ID == "" {
		return errors.New("the answer names no run: this is not an MLflow server")
	}
	s.RunID, s.ArtifactURI = made.Run.Info.ID, made.Run.Info.ArtifactURI
	return nil
}
