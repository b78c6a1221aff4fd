// Package captioner is the run of a captioner in its folder, as package run is that of a classifier: a configuration,
// the words and clips that it names, training that can be resumed, records, and the result. A captioner that was
// trained is opened with OpenModel.
//
// The folder of a run holds config.yaml, words.txt (the vocabulary), log.jsonl, the checkpoints of package train and,
// once the run is complete, result.json.
package session
