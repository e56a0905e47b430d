// Red and blue are exchanged.
// expect: swapped
// never: tl.
// base: accepted/cuda_greyscale_pixels
//-        float level = 0.299f * rgb[i] + 0.587f * rgb[plane + i] + 0.114f * rgb[2 * plane + i];
//+        float level = 0.114f * rgb[i] + 0.587f * rgb[plane + i] + 0.299f * rgb[2 * plane + i];
