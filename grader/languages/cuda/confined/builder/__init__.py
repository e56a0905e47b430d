"""Builder: compiles a student's file to an object that records CUDA's calls, and to a PTX text for each kernel."""
