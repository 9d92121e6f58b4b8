"""Hand out, present and publish the lessons. No lesson imports it."""
