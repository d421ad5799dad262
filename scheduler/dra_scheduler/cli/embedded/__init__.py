"""A cluster in this process for people: what is in it, how it is shown, how others reach it."""
