// Package csiproxy stands between a CSI driver and its callers and makes the driver slow, failing, forgetful of its
// answers or dead, method by method. It passes messages on as they are and knows nothing of what is in them.
//
//	proxy.Fail("CreateSnapshot", codes.ResourceExhausted, 2)    // twice, then it works
//	proxy.Lose("CreateSnapshot", codes.DeadlineExceeded, 1)     // it is made, but nobody hears of it
//	proxy.Slow("DeleteVolume", time.Second)
//	release := proxy.Hold("CreateSnapshot")                     // until released
//	proxy.Dead()                                                // nobody listens
//	proxy.Alive()
//	proxy.Clear()
package csiproxy
