// Package child asks policy packs in processes of their own, which the operating system limits. A
// pack can call functions that run on past every deadline and can ask for any amount of memory, so
// only a process that can be killed bounds it.
//
// A Client starts one process for each question. Serve is what that process runs.
package child
