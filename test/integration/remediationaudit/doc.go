// Package remediationaudit tries the audit records of area remediation on a real PostgreSQL.
package remediationaudit
