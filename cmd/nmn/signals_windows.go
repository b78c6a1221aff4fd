package main

import "os"

// warnings are none: Windows knows no signals that a scheduler could send.
func warnings() []os.Signal { return nil }
