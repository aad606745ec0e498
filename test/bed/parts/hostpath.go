package parts

const hostPathModule = "github.com/kubernetes-csi/csi-driver-host-path"

// hostPathCorrections make the driver remember what it has: without them the list of snapshots holds the newest of
// each volume only, so an earlier one cannot be restored and is made twice when asked for twice; a volume that was
// mounted when the driver ended is unknown as such to the next one; and an end while the state is written leaves
// half a file, with which it never starts again. What a volume was made from is remembered too: to ask for it twice
// would otherwise be an error for a clone, and no error for another snapshot.
var hostPathCorrections = []correction{
	{
		module: hostPathModule, file: "pkg/state/state.go",
		old: "if snapshot.VolID == update.VolID {",
		new: "if snapshot.Id == update.Id {",
	},
	{
		module: hostPathModule, file: "pkg/state/state.go",
		old: "s.Volumes[i] = update\n\t\t\treturn nil",
		new: "s.Volumes[i] = update\n\t\t\treturn s.dump()",
	},
	{
		module: hostPathModule, file: "pkg/state/state.go",
		old: "if err := ioutil.WriteFile(s.statefilePath, data, 0600); err != nil {",
		new: "if err := ioutil.WriteFile(s.statefilePath+\".new\", data, 0600); err != nil {\n" +
			"\t\treturn status.Errorf(codes.Internal, \"error writing state file: %v\", err)\n\t}\n" +
			"\tif err := os.Rename(s.statefilePath+\".new\", s.statefilePath); err != nil {",
	},
	{
		module: hostPathModule, file: "pkg/hostpath/controllerserver.go",
		old: "glog.V(4).Infof(\"successfully populated volume %s\", vol.VolID)",
		new: "if err := hp.state.UpdateVolume(*vol); err != nil {\n\t\t\treturn nil, err\n\t\t}",
	},
}
