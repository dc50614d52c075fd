"""From a user's own model to records, measures, a verdict and a report."""
