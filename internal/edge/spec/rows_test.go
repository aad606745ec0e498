package spec

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// rowCases has a pod for every row of the table: the field as YAML, laid over a pod of a Deployment; and for what the device
// honours, the text that the device gets because of it.
var rowCases = map[string]struct{ pod, sent string }{
	"containers[] (a second one)": {pod: `containers: [{name: a, image: a.example/a:1}, {name: b, image: a.example/b:1}]`},

	"containers[].name":                                     {`containers: [{name: pump}]`, "\"pump\":\n"},
	"containers[].image":                                    {`containers: [{image: "a.example/b:2"}]`, `image: "a.example/b:2"`},
	"containers[].image (without a registry)":               {pod: `containers: [{image: nginx}]`},
	"containers[].imagePullPolicy (IfNotPresent)":           {pod: `containers: [{imagePullPolicy: IfNotPresent}]`},
	"containers[].imagePullPolicy":                          {pod: `containers: [{imagePullPolicy: Always}]`},
	"containers[].command[]":                                {`containers: [{command: [run]}]`, "entrypoint:\n      - \"run\""},
	"containers[].args[]":                                   {`containers: [{args: [fast]}]`, "command:\n      - \"fast\""},
	"containers[].workingDir":                               {`containers: [{workingDir: /srv}]`, `working_dir: "/srv"`},
	"containers[].ports[] (without hostPort)":               {pod: `containers: [{ports: [{containerPort: 80, protocol: TCP}]}]`},
	"containers[].ports[]":                                  {`containers: [{ports: [{containerPort: 80, hostPort: 8080, hostIP: 10.0.0.1, protocol: SCTP}]}]`, `"10.0.0.1:8080:80/sctp"`},
	"containers[].env[].name (unusual)":                     {pod: `containers: [{env: [{name: "a b"}]}]`},
	"containers[].env[].name":                               {`containers: [{env: [{name: A_b.c-d}]}]`, `"A_b.c-d": ""`},
	"containers[].env[].value":                              {`containers: [{env: [{name: A, value: b}]}]`, `"A": "b"`},
	"containers[].env[].valueFrom.resourceFieldRef":         {pod: `containers: [{env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]}]`},
	"containers[].env[].valueFrom.fileKeyRef":               {pod: `containers: [{env: [{name: A, valueFrom: {fileKeyRef: {volumeName: a, path: b, key: c}}}]}]`},
	"containers[].env[].valueFrom.configMapKeyRef":          {`containers: [{env: [{name: A, valueFrom: {configMapKeyRef: {name: plant, key: zone}}}]}]`, `"A": "north"`},
	"containers[].env[].valueFrom.secretKeyRef":             {pod: `containers: [{env: [{name: A, valueFrom: {secretKeyRef: {name: login, key: password}}}]}]`},
	"containers[].envFrom[].secretRef":                      {pod: `containers: [{envFrom: [{secretRef: {name: login}}]}]`},
	"containers[].envFrom[].configMapRef":                   {`containers: [{envFrom: [{configMapRef: {name: plant}}]}]`, `"zone": "north"`},
	"containers[].envFrom[].prefix":                         {`containers: [{envFrom: [{prefix: P_, configMapRef: {name: plant}}]}]`, `"P_zone": "north"`},
	"containers[].resources.limits (cpu)":                   {`containers: [{resources: {limits: {cpu: 1500m}}}]`, `cpus: "1.5"`},
	"containers[].resources.limits (memory)":                {`containers: [{resources: {limits: {memory: 1Mi}}}]`, `mem_limit: "1048576b"`},
	"containers[].resources.limits":                         {pod: `containers: [{resources: {limits: {example.com/gpu: "1"}}}]`},
	"containers[].resources.requests (cpu, memory)":         {pod: `containers: [{resources: {requests: {cpu: 1500m}}}]`},
	"containers[].resources.requests":                       {pod: `containers: [{resources: {requests: {ephemeral-storage: 1Gi}}}]`},
	"containers[].resources.claims[]":                       {pod: `containers: [{resources: {claims: [{name: a}]}}]`},
	"containers[].resizePolicy[]":                           {pod: `containers: [{resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]}]`},
	"containers[].restartPolicy":                            {pod: `containers: [{restartPolicy: Always}]`},
	"containers[].restartPolicyRules[]":                     {pod: `containers: [{restartPolicyRules: [{action: Restart}]}]`},
	"containers[].volumeDevices[]":                          {pod: `containers: [{volumeDevices: [{name: a, devicePath: /dev/a}]}]`},
	"containers[].livenessProbe":                            {pod: `containers: [{livenessProbe: {periodSeconds: 1}}]`},
	"containers[].readinessProbe":                           {pod: `containers: [{readinessProbe: {exec: {command: [a]}}}]`},
	"containers[].startupProbe":                             {pod: `containers: [{startupProbe: {}}]`},
	"containers[].lifecycle":                                {pod: `containers: [{lifecycle: {preStop: {sleep: {seconds: 1}}}}]`},
	"containers[].terminationMessagePath":                   {pod: `containers: [{terminationMessagePath: /dev/termination-log}]`},
	"containers[].terminationMessagePolicy":                 {pod: `containers: [{terminationMessagePolicy: File}]`},
	"containers[].stdinOnce":                                {pod: `containers: [{stdinOnce: true}]`},
	"containers[].stdin":                                    {`containers: [{stdin: true}]`, `stdin_open: true`},
	"containers[].tty":                                      {`containers: [{tty: true}]`, `tty: true`},
	"containers[].env[].valueFrom.fieldRef":                 {pod: `containers: [{env: [{name: A, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]}]`},
	"containers[].envFrom[].secretRef (delivered)":          {`containers: [{envFrom: [{secretRef: {name: login}}]}]`, `"password": "canary"`},
	"containers[].env[].valueFrom.secretKeyRef (delivered)": {`containers: [{env: [{name: A, valueFrom: {secretKeyRef: {name: login, key: password}}}]}]`, `"A": "canary"`},
	"containers[].env[].valueFrom.fieldRef (name, namespace, uid, labels, nodeName, serviceAccountName)": {
		`containers: [{env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}]}]`, `"A": "shop"`},

	"containers[].securityContext (empty)":                                {pod: `containers: [{securityContext: {}}]`},
	"containers[].securityContext.capabilities (empty)":                   {pod: `containers: [{securityContext: {capabilities: {}}}]`},
	"containers[].securityContext.capabilities.drop[]":                    {`containers: [{securityContext: {capabilities: {drop: [CHOWN]}}}]`, "cap_drop:\n      - \"CHOWN\""},
	"containers[].securityContext.capabilities.add[]":                     {pod: `containers: [{securityContext: {capabilities: {add: [CHOWN]}}}]`},
	"containers[].securityContext.privileged (true)":                      {pod: `containers: [{securityContext: {privileged: true}}]`},
	"containers[].securityContext.privileged":                             {pod: `containers: [{securityContext: {privileged: false}}]`},
	"containers[].securityContext.runAsUser":                              {`containers: [{securityContext: {runAsUser: 7}}]`, `user: "7"`},
	"containers[].securityContext.runAsGroup (with runAsUser)":            {`containers: [{securityContext: {runAsUser: 7, runAsGroup: 8}}]`, `user: "7:8"`},
	"containers[].securityContext.runAsGroup":                             {pod: `containers: [{securityContext: {runAsGroup: 8}}]`},
	"containers[].securityContext.runAsNonRoot (true, without runAsUser)": {pod: `containers: [{securityContext: {runAsNonRoot: true}}]`},
	"containers[].securityContext.runAsNonRoot":                           {pod: `containers: [{securityContext: {runAsNonRoot: false}}]`},
	"containers[].securityContext.readOnlyRootFilesystem":                 {`containers: [{securityContext: {readOnlyRootFilesystem: true}}]`, `read_only: true`},
	"containers[].securityContext.allowPrivilegeEscalation":               {`containers: [{securityContext: {allowPrivilegeEscalation: false}}]`, `- "no-new-privileges"`},
	"containers[].securityContext.procMount (Default)":                    {pod: `containers: [{securityContext: {procMount: Default}}]`},
	"containers[].securityContext.procMount":                              {pod: `containers: [{securityContext: {procMount: Unmasked}}]`},
	"containers[].securityContext.seccompProfile (RuntimeDefault)":        {pod: `containers: [{securityContext: {seccompProfile: {type: RuntimeDefault}}}]`},
	"containers[].securityContext.seccompProfile":                         {pod: `containers: [{securityContext: {seccompProfile: {type: Unconfined}}}]`},
	"containers[].securityContext.appArmorProfile":                        {pod: `containers: [{securityContext: {appArmorProfile: {type: RuntimeDefault}}}]`},
	"containers[].securityContext.seLinuxOptions":                         {pod: `containers: [{securityContext: {seLinuxOptions: {level: s0}}}]`},
	"containers[].securityContext.windowsOptions":                         {pod: `containers: [{securityContext: {windowsOptions: {runAsUserName: a}}}]`},
	"securityContext (empty)":                                             {pod: `securityContext: {}`},
	"securityContext.runAsUser":                                           {`securityContext: {runAsUser: 7}`, `user: "7"`},
	"securityContext.runAsGroup (with runAsUser)":                         {`securityContext: {runAsUser: 7, runAsGroup: 8}`, `user: "7:8"`},
	"securityContext.runAsGroup":                                          {pod: `securityContext: {runAsGroup: 8}`},
	"securityContext.runAsNonRoot (true, without runAsUser)":              {pod: `securityContext: {runAsNonRoot: true, runAsUser: 0}`},
	"securityContext.runAsNonRoot":                                        {pod: `securityContext: {runAsNonRoot: true, runAsUser: 5}`},
	"securityContext.seccompProfile (RuntimeDefault)":                     {pod: `securityContext: {seccompProfile: {type: RuntimeDefault}}`},
	"securityContext.seccompProfile":                                      {pod: `securityContext: {seccompProfile: {type: Localhost, localhostProfile: a}}`},
	"securityContext.appArmorProfile":                                     {pod: `securityContext: {appArmorProfile: {type: RuntimeDefault}}`},
	"securityContext.seLinuxOptions":                                      {pod: `securityContext: {seLinuxOptions: {level: s0}}`},
	"securityContext.seLinuxChangePolicy":                                 {pod: `securityContext: {seLinuxChangePolicy: Recursive}`},
	"securityContext.windowsOptions":                                      {pod: `securityContext: {windowsOptions: {runAsUserName: a}}`},
	"securityContext.supplementalGroups[]":                                {pod: `securityContext: {supplementalGroups: [7]}`},
	"securityContext.supplementalGroupsPolicy":                            {pod: `securityContext: {supplementalGroupsPolicy: Merge}`},
	"securityContext.fsGroup":                                             {pod: `securityContext: {fsGroup: 7}`},
	"securityContext.fsGroupChangePolicy":                                 {pod: `securityContext: {fsGroupChangePolicy: Always}`},
	"securityContext.sysctls[]":                                           {pod: `securityContext: {sysctls: [{name: a, value: b}]}`},

	"volumes[].name":                                               {pod: mounted(`configMap: {name: settings}`, "")},
	"volumes[].configMap":                                          {mounted(`configMap: {name: settings}`, ""), `/v:/data:ro"`},
	"volumes[].configMap.defaultUser":                              {pod: mounted(`configMap: {name: settings, defaultUser: 7}`, "")},
	"volumes[].configMap.items[].user":                             {pod: mounted(`configMap: {name: settings, items: [{key: one, path: one, user: 7}]}`, "")},
	"volumes[].configMap.items[].path (with a colon)":              {pod: mounted(`configMap: {name: settings, items: [{key: one, path: "a:b"}]}`, "")},
	"volumes[].emptyDir (on a disk)":                               {pod: mounted(`emptyDir: {}`, "")},
	"volumes[].emptyDir (without sizeLimit)":                       {pod: mounted(`emptyDir: {medium: Memory}`, "")},
	"volumes[].emptyDir (mounted twice)":                           {pod: `{containers: [{volumeMounts: [{name: v, mountPath: /a}, {name: v, mountPath: /b}]}], volumes: [{name: v, emptyDir: {medium: Memory, sizeLimit: 1Mi}}]}`},
	"volumes[].emptyDir.mode":                                      {pod: mounted(`emptyDir: {medium: Memory, sizeLimit: 1Mi, mode: 448}`, "")},
	"volumes[].emptyDir":                                           {mounted(`emptyDir: {medium: Memory, sizeLimit: 1Mi}`, ""), `"/data:size=1048576,mode=0777,exec"`},
	"volumes[].projected (the service account's token)":            {pod: token},
	"volumes[].projected":                                          {pod: mounted(`projected: {sources: [{serviceAccountToken: {path: token}}]}`, "")},
	"volumes[].secret":                                             {pod: mounted(`secret: {secretName: login}`, "")},
	"volumes[].persistentVolumeClaim":                              {pod: mounted(`persistentVolumeClaim: {claimName: a}`, "")},
	"volumes[].hostPath":                                           {pod: mounted(`hostPath: {path: /}`, "")},
	"containers[].volumeMounts[] (of the service account's token)": {pod: token},
	"containers[].volumeMounts[].subPath (of an emptyDir)":         {pod: mounted(`emptyDir: {medium: Memory, sizeLimit: 1Mi}`, `subPath: a`)},
	"containers[].volumeMounts[].subPath":                          {mounted(`configMap: {name: settings}`, `subPath: one`), `/v/one:/data:ro"`},
	"containers[].volumeMounts[].subPathExpr":                      {pod: mounted(`configMap: {name: settings}`, `subPathExpr: $(A)`)},
	"containers[].volumeMounts[].mountPath (with a colon)":         {pod: `{containers: [{volumeMounts: [{name: v, mountPath: "/a:b"}]}], volumes: [{name: v, configMap: {name: settings}}]}`},
	"containers[].volumeMounts[].mountPath":                        {mounted(`configMap: {name: settings}`, ""), `:/data:ro"`},
	"containers[].volumeMounts[].name":                             {mounted(`configMap: {name: settings}`, ""), `/v:`},
	"containers[].volumeMounts[].mountPropagation (None)":          {pod: mounted(`configMap: {name: settings}`, `mountPropagation: None`)},
	"containers[].volumeMounts[].mountPropagation":                 {pod: mounted(`configMap: {name: settings}`, `mountPropagation: HostToContainer`)},
	"containers[].volumeMounts[].recursiveReadOnly (Disabled)":     {pod: mounted(`configMap: {name: settings}`, `recursiveReadOnly: Disabled`)},
	"containers[].volumeMounts[].recursiveReadOnly":                {pod: mounted(`configMap: {name: settings}`, `recursiveReadOnly: Enabled`)},
	"containers[].volumeMounts[].bindMountOptions[]":               {pod: mounted(`configMap: {name: settings}`, `bindMountOptions: [noexec]`)},
	"containers[].volumeMounts[].readOnly (of an emptyDir)":        {pod: mounted(`emptyDir: {medium: Memory, sizeLimit: 1Mi}`, `readOnly: true`)},
	"containers[].volumeMounts[].readOnly":                         {pod: mounted(`configMap: {name: settings}`, `readOnly: true`)},

	"initContainers[]":              {pod: `initContainers: [{name: a}]`},
	"ephemeralContainers[]":         {pod: `ephemeralContainers: [{name: a}]`},
	"nodeName":                      {pod: `nodeName: edge-a`},
	"nodeSelector":                  {pod: `nodeSelector: {a: b}`},
	"affinity":                      {pod: `affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}}`},
	"tolerations[]":                 {pod: `tolerations: [{operator: Exists}]`},
	"topologySpreadConstraints[]":   {pod: `topologySpreadConstraints: [{maxSkew: 1}]`},
	"schedulerName":                 {pod: `schedulerName: other`},
	"schedulingGates[]":             {pod: `schedulingGates: [{name: a}]`},
	"schedulingGroup":               {pod: `schedulingGroup: {podGroupName: a}`},
	"priority":                      {pod: `priority: 0`},
	"priorityClassName":             {pod: `priorityClassName: a`},
	"preemptionPolicy":              {pod: `preemptionPolicy: Never`},
	"readinessGates[]":              {pod: `readinessGates: [{conditionType: a}]`},
	"restartPolicy (Always)":        {pod: `restartPolicy: Always`},
	"restartPolicy":                 {pod: `restartPolicy: Never`},
	"terminationGracePeriodSeconds": {`terminationGracePeriodSeconds: 0`, `stop_grace_period: "0s"`},
	"activeDeadlineSeconds":         {pod: `activeDeadlineSeconds: 5`},
	"hostname":                      {`hostname: pump`, `hostname: "pump"`},
	"hostnameOverride":              {`{hostname: pump, hostnameOverride: valve}`, `hostname: "valve"`},
	"subdomain":                     {pod: `subdomain: a`},
	"setHostnameAsFQDN (true)":      {pod: `setHostnameAsFQDN: true`},
	"setHostnameAsFQDN":             {pod: `setHostnameAsFQDN: false`},
	"dnsPolicy (ClusterFirst)":      {pod: `dnsPolicy: ClusterFirst`},
	"dnsPolicy (Default)":           {pod: `dnsPolicy: Default`},
	"dnsPolicy":                     {pod: `dnsPolicy: None`},
	"dnsConfig":                     {pod: `dnsConfig: {}`},
	"hostAliases[]":                 {pod: `hostAliases: [{ip: 127.0.0.1}]`},
	"enableServiceLinks (true)":     {pod: `enableServiceLinks: true`},
	"enableServiceLinks":            {pod: `enableServiceLinks: false`},
	"imagePullSecrets[]":            {pod: `imagePullSecrets: [{name: a}]`},
	"serviceAccountName":            {pod: `serviceAccountName: a`},
	"serviceAccount":                {pod: `serviceAccount: a`},
	"automountServiceAccountToken":  {pod: `automountServiceAccountToken: true`},
	"hostNetwork":                   {pod: `hostNetwork: true`},
	"hostPID":                       {pod: `hostPID: true`},
	"hostIPC":                       {pod: `hostIPC: true`},
	"hostUsers (false)":             {pod: `hostUsers: false`},
	"hostUsers":                     {pod: `hostUsers: true`},
	"shareProcessNamespace (true)":  {pod: `shareProcessNamespace: true`},
	"shareProcessNamespace":         {pod: `shareProcessNamespace: false`},
	"runtimeClassName":              {pod: `runtimeClassName: a`},
	"overhead":                      {pod: `overhead: {cpu: 1m}`},
	"os.name (linux)":               {pod: `os: {name: linux}`},
	"os":                            {pod: `os: {name: windows}`},
	"resources":                     {pod: `resources: {limits: {cpu: 1}}`},
	"resourceClaims[]":              {pod: `resourceClaims: [{name: a}]`},
	"evictionResponders[]":          {pod: `evictionResponders: [{name: a}]`},
}

// token is the volume that the API server adds.
const token = `{containers: [{volumeMounts: [{name: kube-api-access-x, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}]}],
  volumes: [{name: kube-api-access-x, projected: {sources: [{serviceAccountToken: {path: token}}, {configMap: {name: kube-root-ca.crt}}]}}]}`

// mounted is a pod that mounts a volume.
func mounted(source, option string) string {
	if option != "" {
		option = ", " + option
	}
	return `{containers: [{volumeMounts: [{name: v, mountPath: /data` + option + `}]}], volumes: [{name: v, ` + source + `}]}`
}

// laid is a pod of a Deployment with some fields of its spec replaced; lists of structs are laid over one by one.
func laid(t *testing.T, over string) *corev1.Pod {
	t.Helper()
	pod := podOf(t, "plain")
	pod.Spec.Volumes, pod.Spec.Containers[0].VolumeMounts = nil, nil
	if err := yaml.UnmarshalStrict([]byte("spec:\n"+indent(over)), pod); err != nil {
		t.Fatalf("%s: %v", over, err)
	}
	return pod
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

func (r Row) String() string {
	if r.Case == "" {
		return r.Field
	}
	return r.Field + " (" + r.Case + ")"
}

// Every row of the table is what becomes of a pod, and what it says is what happens.
func TestEveryRowHolds(t *testing.T) {
	for _, kind := range otherVolumes {
		rowCases["volumes[]."+kind] = struct{ pod, sent string }{pod: mounted(kind+`: {}`, "")}
	}
	tried := map[string]bool{}
	for _, row := range Table() {
		name := row.String()
		if tried[name] {
			t.Errorf("two rows are called %s", name)
		}
		tried[name] = true
		t.Run(name, func(t *testing.T) { tryRow(t, row) })
	}
	for name := range rowCases {
		if !tried[name] {
			t.Errorf("no row is called %s", name)
		}
	}
}

func tryRow(t *testing.T, row Row) {
	c, is := rowCases[row.String()]
	if !is {
		t.Fatal("no pod has it: add one to rowCases")
	}
	pod, from := laid(t, c.pod), sources()
	if strings.Contains(row.Field, "secret") && row.Case == "" {
		from.DeliversSecrets = false
	}
	met := false
	for _, l := range leavesOf(&pod.Spec) {
		met = met || rowOf(Table(), subject{pod, from}, l).String() == row.String()
	}
	if !met {
		t.Fatalf("another row is asked about %s", c.pod)
	}
	out, told := Build(pod, cluster, from), ": "+row.Words
	switch row.Column {
	case Refused:
		if out.Application != nil || !strings.Contains(strings.Join(out.Refused, "\n"), told) {
			t.Errorf("it is sent, or is refused for another reason: %q", out.Refused)
		}
	case LeftOut:
		if out.Application == nil || !row.quiet && !strings.Contains(strings.Join(out.LeftOut, "\n"), told) {
			t.Errorf("it is refused, or not told: %q, %q", out.Refused, out.LeftOut)
		}
	case Honoured:
		if out.Application == nil {
			t.Fatalf("it is refused: %q, %q", out.Refused, out.Missing)
		}
		if !strings.Contains(out.Application.Inline[0].Content, c.sent) {
			t.Errorf("%s is not sent:\n%s", c.sent, out.Application.Inline[0].Content)
		}
		base := Build(laid(t, "{}"), cluster, from).Application.Inline[0].Content
		if c.sent != "" && strings.Contains(base, c.sent) {
			t.Errorf("%s is sent without it, too", c.sent)
		}
	}
}
