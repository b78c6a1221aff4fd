package neon

// Write writes the assembly to path.s and its Go declarations to path.go.
func Write(path string) error {
	f := &file{constants: map[string]bool{}}
	copyRows(f)
	sumRows(f)
	add(f)
	scaleRows(f)
	return f.write(path)
}
