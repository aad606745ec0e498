// Package execution is the machine of a KubernetesExecution: an action that is checked, approved,
// done at most once by a Job, verified, and can be taken back by another execution.
//
// At most once is a matter of order. The state before is saved, then the execution is marked as
// begun, then the Job is made, suspended; its UID is saved; and only then, right after a last look
// at everything that was approved, the Job is released. From there on only witnesses say what was
// done: the report of the Job's pod, the Job itself, and the token on the target. Where none is
// left the outcome is Unknown, and the action is never done again.
package execution
