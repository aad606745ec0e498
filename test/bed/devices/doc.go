// Package devices makes scripted devices of a real Flight Control server. They enroll as real ones do, by a certificate request that
// an administrator approves, and speak to the server with the certificate that they got; but no agent runs, and what they report is
// what a test says.
//
//	enroller, err := devices.NewEnroller(ctx, bed.FlightControl())
//	device, err := enroller.Enroll(ctx, map[string]string{"site": "north"})
//	rendered, isNew, err := device.Fetch(ctx)              // what the server has rendered for it
//	err = device.Report(ctx, devices.Report{Version: "2"}) // what it says of itself
package devices
