"""Fill a folder for USB sticks, from which the course is set up without a network."""
