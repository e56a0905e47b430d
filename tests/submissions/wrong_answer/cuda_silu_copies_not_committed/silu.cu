// The last tile has no group behind it, so that a wait for all but one leaves it out.
// expect: before anybody has waited
// never: tl.
// base: accepted/cuda_silu_copies_ahead
//-        if (tile + 1 < TILES)
//+        if (tile + 1 < TILES) {
//
//-        __pipeline_commit();
//-        __pipeline_wait_prior(1);
//+            __pipeline_commit();
//+        }
//+        __pipeline_wait_prior(1);
