package main

// printConfig writes the resolved configuration to standard output.
func printConfig(p *program, c *config) error {
	data, err := c.yaml()
	if err != nil {
		return err
	}
	_, err = p.out.Write(data)
	return err
}
