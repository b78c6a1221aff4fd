package paper

// FolderSeeds returns the seeds of the reproduction in a folder, or nil if there is none.
func FolderSeeds(dir string) ([]uint64, error) {
	there, err := readPlan(dir)
	if there == nil || err != nil {
		return nil, err
	}
	return there.Settings.Seeds, nil
}
