"""Home's side of a campaign: freeze the plan, rent, dispatch, replace what vanished, close."""
