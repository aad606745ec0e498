// Package valkeysecurity tries TLS, users and their change on real servers of every
// version: plain processes on addresses of the loopback network, under an application
// that writes all the time.
package valkeysecurity
