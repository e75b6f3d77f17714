"""A fixed public set of planning problems, made from seeds; `digests.json` says what each of them is."""
