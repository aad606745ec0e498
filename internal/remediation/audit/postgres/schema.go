package postgres

import _ "embed"

// Schema is the SQL with which an administrator of the database makes the table, and the roles that may use it. The
// manager does not apply it: it has no right to.
//
//go:embed schema.sql
var Schema string
