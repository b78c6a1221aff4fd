// Package backbone takes features of pictures from pretrained networks: it recognises which one a file of weights is
// of, knows what that one wants of a picture, and says what its layers make of it. Such a net is only run forward.
//
//	net, err := backbone.Open("dinov2.safetensors", backbone.Options{}, backend) // as it was trained
//	if err != nil {
//		return err
//	}
//	defer net.Close()
//	about := net.Info() // its name, its layers, how pictures are prepared
package backbone
