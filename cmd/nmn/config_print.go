package main

import "nmn/run"

// printConfig writes the resolved configuration to standard output.
func printConfig(p *program, c *run.Config) error {
	data, err := c.YAML()
	if err != nil {
		return err
	}
	_, err = p.out.Write(data)
	return err
}
