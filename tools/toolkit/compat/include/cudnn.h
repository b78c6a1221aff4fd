/* Found before cuDNN's header of this name, and includes it. */
#include_next <cudnn.h>
#include "../cudnn9.h"
