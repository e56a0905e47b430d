// The row is not compared with the height.
// expect: past the end
// never: tl.
// base: accepted/cuda_greyscale_pixels
//-    if (x < width && y < height) {
//+    if (x < width) {
