// The channels are added as bytes, with whole weights.
// expect: mean of the three channels
// never: tl.
// base: accepted/cuda_greyscale_pixels
//-        float level = 0.299f * rgb[i] + 0.587f * rgb[plane + i] + 0.114f * rgb[2 * plane + i];
//-        grey[i] = (unsigned char)(level + 0.5f);
//+        unsigned char sum = rgb[i] + rgb[plane + i] + rgb[2 * plane + i];
//+        grey[i] = sum / 3;
