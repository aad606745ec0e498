// Package spec builds the objects that area remediation makes: the Job of an action, the account that it
// runs as, and the execution of a step. It is pure.
package spec
