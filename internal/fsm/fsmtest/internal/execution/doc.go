// Package execution is a one-shot, for the kit to be tried on. It decides how an
// action is run at most once. What cannot be taken back comes last: the Job is
// created suspended, its UID is saved, and only then may it run.
package execution
