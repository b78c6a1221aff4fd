// Package rows tells of each bag ("row") of an audited data set how well its labels fit, and where features are known
// whether it stands apart or is there twice. Audits of labels fill a [Table]; it is ranked, the worst row first, and
// written as CSV, JSON lines or Parquet.
package rows
