"""A campaign for other readers: a page for a notebook, a research object, files that start it elsewhere."""
