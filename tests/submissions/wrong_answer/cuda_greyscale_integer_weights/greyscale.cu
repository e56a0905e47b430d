// The weights are whole numbers: 0.
// expect: 0
// never: tl.
// base: accepted/cuda_greyscale_pixels
//-        float level = 0.299f * rgb[i] + 0.587f * rgb[plane + i] + 0.114f * rgb[2 * plane + i];
//+        int red = 0.299, green = 0.587, blue = 0.114;
//+        float level = red * rgb[i] + green * rgb[plane + i] + blue * rgb[2 * plane + i];
