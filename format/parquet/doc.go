// Package parquet reads and writes Parquet tables for the packages that accept and write tables. Import it
// for its side effect:
//
//	import _ "nmn/format/parquet"
//
// Programs that do not import it do not link its library.
package parquet

import "nmn/format/records"

func init() { records.Register(records.Library{Open: open, Write: write}) }
