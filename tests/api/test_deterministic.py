"""Generated text is the same, byte for byte, whatever the process."""

import os
import subprocess
import sys
from pathlib import Path

import srcad

ROOT = Path(srcad.__file__).parent.parent

SCRIPT = """
import hashlib
import srcad
from tests.zoo import CASES

step = max(len(CASES) // 24, 1)
for case in CASES[::step]:
    args, keywords = case.fresh()
    for transform in (srcad.jacrev, srcad.jacfwd):
        try:
            text = transform(case.function, case.argnums).source_for(*args, **keywords)
        except srcad.errors.SrcadError as error:
            text = f"{type(error).__name__}: {error}"
        digest = hashlib.sha256(text.encode()).hexdigest()
        print(case.id, transform.__name__, len(text), digest)
"""


def test_source_does_not_depend_on_the_hash_seed():
    outputs = []
    for seed in ("0", "1", "4321"):
        environment = os.environ | {
            "PYTHONHASHSEED": seed,
            "SRCAD_CACHE_DIR": "off",
            "PYTHONPATH": str(ROOT),
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.splitlines())
    assert len(outputs[0]) >= 48
    assert outputs[0] == outputs[1] == outputs[2]
