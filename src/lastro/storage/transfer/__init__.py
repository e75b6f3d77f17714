"""Files go to a store and come back: what was interrupted goes on, and what arrived is checked."""
