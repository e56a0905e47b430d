// The channels of a pixel are taken to stand side by side.
// expect: side by side
// never: tl.
// base: accepted/cuda_greyscale_pixels
//-        int plane = height * width;
//-        float level = 0.299f * rgb[i] + 0.587f * rgb[plane + i] + 0.114f * rgb[2 * plane + i];
//+        float level = 0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2];
