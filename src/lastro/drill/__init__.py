"""The drill: kill a job and resume it on purpose, and prove that the result equals no kill."""
