package parts

const flightctlModule = "github.com/flightctl/flightctl"

// Variables of the environment that Flight Control reads only on the bed.
const (
	// FlightctlToken is the file with the token by which it asks the API server.
	FlightctlToken = "FLIGHTCTL_K8S_TOKEN"
	// FlightctlDisconnected is how long a device is not heard until it is said to be disconnected, and FlightctlLook how often
	// that is looked for. They are durations, such as 10s.
	FlightctlDisconnected = "FLIGHTCTL_DISCONNECTED"
	FlightctlLook         = "FLIGHTCTL_LOOK"
)

// flightctlCorrections take three constants from the environment: the path of a token, or Flight Control would need root and a fixed
// path of the machine; and the two times of a verdict on a silent device, or each test of one would take seven minutes. Without
// these variables the values are its own.
var flightctlCorrections = []correction{
	{
		module: flightctlModule, file: "pkg/k8sclient/k8s_client.go",
		old: "import (\n\t\"context\"\n\t\"fmt\"\n",
		new: "import (\n\t\"cmp\"\n\t\"context\"\n\t\"fmt\"\n\t\"os\"\n",
	},
	{
		module: flightctlModule, file: "pkg/k8sclient/k8s_client.go",
		old: "\texternalApiTokenPath = \"/var/flightctl/k8s/token\" //nolint:gosec\n)",
		new: ")\n\nvar externalApiTokenPath = cmp.Or(os.Getenv(\"" + FlightctlToken + "\"), \"/var/flightctl/k8s/token\")",
	},
	{
		module: flightctlModule, file: "internal/domain/consts.go",
		old: "import (\n",
		new: "import (\n\t\"os\"\n\t\"time\"\n\n",
	},
	{
		module: flightctlModule, file: "internal/domain/consts.go",
		old: "const DeviceDisconnectedTimeout = v1beta1.DeviceDisconnectedTimeout\n",
		new: "var DeviceDisconnectedTimeout = FromEnvironment(\"" + FlightctlDisconnected + "\", v1beta1.DeviceDisconnectedTimeout)\n\n" +
			"func FromEnvironment(name string, usual time.Duration) time.Duration {\n" +
			"\tif d, err := time.ParseDuration(os.Getenv(name)); err == nil {\n\t\treturn d\n\t}\n\treturn usual\n}\n\n",
	},
	{
		module: flightctlModule, file: "internal/tasks/device_connection.go",
		old: "\tDeviceConnectionPollingInterval = 2 * time.Minute\n",
	},
	{
		module: flightctlModule, file: "internal/tasks/device_connection.go",
		old: "type DeviceConnection struct {",
		new: "var DeviceConnectionPollingInterval = domain.FromEnvironment(\"" + FlightctlLook + "\", 2*time.Minute)\n\ntype DeviceConnection struct {",
	},
}
