"""The picture wing: networks that render pictures, and everything that only they need."""
