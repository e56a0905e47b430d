"""The builder of a student's file: it makes an object that plans instead of running, and a PTX text of each kernel."""
