// Package report writes the tables, plots and pages about runs: the tables of "Learning from Noisy Labels
// with Noise Modeling Network" with the published figures next to ours, tables of experiments with mean and
// spread over seeds, the paper's Figure 3, and the HTML pages of runs, experiments and audits. It depends on
// evaluations ([nmn/eval.Result]) and on the short description [Run], but not on training.
package report
