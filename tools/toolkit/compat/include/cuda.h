/* Found before the toolkit's header of this name, and includes it. */
#include_next <cuda.h>
#include "../cuda13.h"
