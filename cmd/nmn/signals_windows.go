package main

import "os"

// warnings returns nil: schedulers cannot send such signals on Windows.
func warnings() []os.Signal { return nil }
