"""What `import liebn` costs."""

import subprocess
import sys


def test_importing_the_library_leaves_the_slow_modules_alone():
    # geoopt alone takes as long to import as all the rest, and only some users need it; so does
    # torch's compiler, which decorators such as torch.compiler.disable bring in.
    slow = "geoopt", "scipy", "sklearn", "matplotlib", "spd_learn", "torch._dynamo"
    code = f"import sys, liebn; print([m for m in {slow} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
