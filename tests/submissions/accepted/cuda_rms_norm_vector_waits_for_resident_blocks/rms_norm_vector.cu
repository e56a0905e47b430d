// Each block waits for all others, and a GPU holds them all.
// base: time_limit/cuda_rms_norm_vector_waits_for_blocks_that_do_not_fit
//-constexpr int BLOCKS = 396;
//+constexpr int BLOCKS = 132;
