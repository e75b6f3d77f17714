"""Why a GPU sleeps: a loop's own pace, that of its input and that of its computing, measured and compared."""
