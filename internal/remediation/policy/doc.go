// Package policy is the vocabulary of the policy port: what a policy pack is asked about an
// execution, and what it answers. Its types are plain data, so machines may use them.
//
// Package child asks a pack in a process of its own, package rego is what that process runs, and
// package policyfake answers in simulations.
package policy
