// Package postgres runs a real PostgreSQL on loopback, as a process that is not root.
package postgres
