// Package backbone computes features of pictures with pretrained networks. It recognises the network in a
// file of weights, prepares pictures as that network needs them, and returns the outputs of its layers. Such
// a net only runs forward.
//
//	net, err := backbone.Open("dinov2.safetensors", backbone.Options{}, backend) // as it was trained
//	if err != nil {
//		return err
//	}
//	defer net.Close()
//	about := net.Info() // its name, its layers, how pictures are prepared
package backbone
