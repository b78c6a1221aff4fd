// Package report is for changes of tables, plots and pages that show what runs have found: the layout of the tables of
// "Learning from Noisy Labels with Noise Modeling Network" with the published figures next to ours, an experiment table
// with mean and spread over seeds, and the paper's Figure 3. It knows evaluations ([nmn/eval.Result]) and the small
// description [Run], and nothing of how training is done.
package report
