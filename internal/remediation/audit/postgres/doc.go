// Package postgres keeps audit records in PostgreSQL, in a table that can only be appended to.
package postgres
