// Package access says who may do what on the servers of a cluster, and how a password
// is changed while they serve. It is pure: what servers say is handed to it, and what
// should be done is returned.
//
// There are three users. The application has all keys and everything but
// administration. Servers log on to each other as the replication user. The operator,
// and the program beside each server, log on as the operator's user, which can do what
// they do and nothing else. Everybody else is nobody: the default user is off.
package access
