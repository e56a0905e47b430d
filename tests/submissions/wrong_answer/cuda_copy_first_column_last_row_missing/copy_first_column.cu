// The loop ends one row too early.
// expect: 1 of 5 elements is wrong
// never: tl.
// base: accepted/cuda_copy_first_column_vector
//-    for (int i = 0; i < rows; ++i)
//+    for (int i = 0; i < rows - 1; ++i)
