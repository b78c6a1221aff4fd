// Package parquet reads and writes Parquet tables for the packages that take and write tables. A program imports it for
// its effect alone:
//
//	import _ "nmn/format/parquet"
//
// Other programs do without Parquet, and do not link its library.
package parquet

import "nmn/format/records"

func init() { records.Register(records.Library{Open: open, Write: write}) }
