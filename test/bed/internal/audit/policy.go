package audit

// Policy is the audit policy the log is read with: metadata of every write that is stored. Both stages are
// logged, because only a request's first line tells the reader that a second one is still to come. A deletion
// carries its options in the body: only there does a dry run of it show.
const Policy = head + writes

// PolicyWithReads logs besides what accounts read, and whom they ask the API server about. What the controllers of
// Kubernetes read is left out: it would be most of the log. That a watch has begun is logged, since few ever end.
const PolicyWithReads = head + `
- level: None
  userGroups: [system:serviceaccounts:kube-system]
  verbs: [get, list, watch]
- level: Metadata
  userGroups: [system:serviceaccounts]
  verbs: [get, list, watch]
  omitStages: [RequestReceived]
- level: Metadata
  userGroups: [system:serviceaccounts]
  resources:
  - group: authentication.k8s.io
  - group: authorization.k8s.io
  omitStages: [RequestReceived, ResponseStarted]
` + writes

const head = `apiVersion: audit.k8s.io/v1
kind: Policy
rules:
`

const writes = `
- level: None
  resources:
  - group: authentication.k8s.io
  - group: authorization.k8s.io
- level: Metadata
  verbs: [create, update, patch]
  omitStages: [ResponseStarted]
- level: Request
  verbs: [delete, deletecollection]
  omitStages: [ResponseStarted]
- level: None
`
