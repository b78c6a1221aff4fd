// Package session is the run of a captioner in its folder, like package run for classifiers: a configuration, its
// words and clips, training that can be resumed, logs, and the result.
//
// The folder of a run holds config.yaml, words.txt (the vocabulary), log.jsonl, the checkpoints of package train and,
// once the run is complete, result.json.
package session
