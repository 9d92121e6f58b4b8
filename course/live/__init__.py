"""Present lessons with a kernel: the decks of `course.publishing` on a server of one's own machine."""
