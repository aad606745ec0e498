// Package script runs scripts on a port: on the real system and on its fake. What a script shows must be the same on both, or the
// fake is wrong. What the lines of a script mean is the port's business; what is here is what any port's scripts have in common.
package script
