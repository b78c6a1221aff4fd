// Package rows scores each bag ("row") of an audited data set by how well its labels fit. Audits of labels fill a
// [Table]; it is ranked, the worst row first, and written as CSV, JSON lines or Parquet.
package rows
