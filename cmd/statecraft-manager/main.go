// Command statecraft-manager runs the controllers of the areas it is given.
package main

import (
	"github.com/statecraft-dev/statecraft/cmd/internal/process"
	"github.com/statecraft-dev/statecraft/internal/areas"
)

func main() { process.Main(areas.ManagerProgram) }
