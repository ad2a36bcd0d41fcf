"""From a stored run to its results as data: computed from its trials, and kept while current."""
