// Package runaudit is for programs that look for wrong labels in a finished run. It opens the run's data and scores,
// trains nets of folds if scores are missing, ranks the labels, and writes corrected ones in the form that the data
// came in. It does what nmn audit does with a run folder. Package labels/audit decides which labels are wrong.
package runaudit
