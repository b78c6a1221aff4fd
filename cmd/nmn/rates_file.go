package main

import (
	"fmt"

	"nmn/labels"
	"nmn/text"
)

// notes are what the table of rates does not show.
func (e *estimatedRates) notes() []string {
	notes := []string{fmt.Sprintf("Calibrated probabilities, sigmoid(a o + b), have their best expected F1 from %.3f on (theta of each word in its column).", e.Threshold)}
	if e.Floor != nil {
		notes = append(notes, fmt.Sprintf("Rates are raised to at least q01 %.3f and q10 %.4f, as far as the labels let them.", e.Floor.Q01, e.Floor.Q10))
	}
	if e.MeanError != nil {
		notes = append(notes, fmt.Sprintf("Mean error against the true labels (T01, T10), over words whose rates are believed: q01 %.3f, q10 %.4f.", e.MeanError.Q01, e.MeanError.Q10))
	}
	return notes
}

// readRates reads what nmn rates has written, the q.csv of a run, or any other table with rates of all words.
func readRates(path string, wordsInOrder []string) (labels.Table, error) {
	list := make([]text.Word, len(wordsInOrder))
	for i, w := range wordsInOrder {
		list[i].Text = w
	}
	v, err := text.NewVocabulary(list)
	if err != nil {
		return nil, fmt.Errorf("the words of the scores: %w", err)
	}
	return labels.ReadFile(path, v, labels.Given)
}
