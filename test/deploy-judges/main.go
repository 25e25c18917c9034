// Loads compose files as Docker's own compose does, schema and variables included, and says how many services each has.
package main

import (
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/cli"
)

func main() {
	for _, file := range os.Args[1:] {
		options, err := cli.NewProjectOptions([]string{file}, cli.WithOsEnv)
		if err != nil {
			fail(file, err)
		}
		project, err := cli.ProjectFromOptions(options)
		if err != nil {
			fail(file, err)
		}
		fmt.Println(len(project.Services))
	}
}

func fail(file string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
	os.Exit(1)
}
