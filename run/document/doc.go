// Package document is for programs that take settings from YAML files and command lines. It lays them over a struct
// whose fields are tagged with their keys. An error names file, line and key.
package document
