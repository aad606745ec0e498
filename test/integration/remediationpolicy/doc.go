// Package remediationpolicy tries policy packs in real processes with real limits: what a pack can
// burn, how long an answer takes, and what the process that asks notices of it.
package remediationpolicy
