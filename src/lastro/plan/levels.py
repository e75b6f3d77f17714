"""How much a finding matters: fail makes a plan impossible, warn asks for care, note is good to know."""

FAIL, WARN, NOTE = "fail", "warn", "note"
