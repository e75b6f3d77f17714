"""Start train.py as so many processes as this machine has GPUs. In a rehearsal without any: two, then one.

The first machine has room for two, and the one that comes after it only for one.
"""

import os
import sys
from pathlib import Path

import torch

count = torch.cuda.device_count() or (2 if Path(os.environ["LASTRO_ATTEMPT"]).name == "1" else 1)
train = [str(Path(__file__).with_name("train.py")), *sys.argv[1:]]
launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(count)] if count > 1 else []
os.execv(sys.executable, [sys.executable, *launch, *train])
