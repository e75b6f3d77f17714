from tests.job.conftest import nursery

__all__ = ["nursery"]
