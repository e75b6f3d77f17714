"""Small trainers that resume wrongly or rightly, written before the rules of the drill that they judge.

Each is a script of its own, as a user would have written it, and says in `EXPECT` what a drill has to find:

* `verdict`: "different", "exact", or "noise" (two undisturbed lives differ by a little already);
* `cause`: what is not restored: model, buffers, optimizer, scheduler, scaler, random, data, augmentation,
  accumulation, ema, frozen, variable; None where nothing is wrong;
* `also`: causes that may be named first with equal right.

`plain_*.py [--resume FILE]` write `saves/step-<n>.pt` themselves; `api_*.py` join by `lastro.attach()`. They
depend on torch and NumPy, no other file, and take as long as importing torch does. `open` holds the ones that
the rules may be tuned on. Those in `blind` count once the rules stand: `blind.sha256` was committed first.
`check.py` shows, without the drill, that each is what it says.
"""
