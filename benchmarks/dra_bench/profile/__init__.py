"""Where a pod's milliseconds go in our scheduler, by samples of its CPU time, and what memory it takes."""
