package audit

// Policy is the audit policy the log is read with: metadata of every write that is stored. Both stages are
// logged, because only a request's first line tells the reader that a second one is still to come. A deletion
// carries its options in the body: only there does a dry run of it show.
const Policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [ResponseStarted]
rules:
- level: None
  resources:
  - group: authentication.k8s.io
  - group: authorization.k8s.io
- level: Metadata
  verbs: [create, update, patch]
- level: Request
  verbs: [delete, deletecollection]
- level: None
`
