package memory

import "os"

// Free is the memory that this process may still take, in bytes.
func Free() (bytes int64, known bool) { return freeOf(os.DirFS("/")) }
