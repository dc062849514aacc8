"""Builds the compiled module of `scheduler.kernels` along with the package, where there is a C compiler.

Without one Berth works all the same, and takes longer for some decisions. `python hatch_build.py` does that alone.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from setuptools import Distribution, Extension
from setuptools.errors import BaseError, CompileError, LinkError

MODULE = "scheduler.kernels._compiled"
SOURCE = "scheduler/kernels/_compiled.c"
# Scores are those of the twins to the last bit: no multiplication may be fused with an addition.
FLAGS = [] if sys.platform == "win32" else ["-O3", "-ffp-contract=off"]


def compile_in_place() -> None:
    """Put the module beside its source, in the tree that is the working directory.

    Raises BaseError, CompileError or LinkError; then there is none.
    """
    extension = Extension(MODULE, [SOURCE], include_dirs=[np.get_include()], extra_compile_args=FLAGS)
    command = Distribution({"name": "berth", "ext_modules": [extension]}).get_command_obj("build_ext")
    command.inplace = command.force = True
    with TemporaryDirectory() as directory:
        command.build_temp = directory
        command.ensure_finalized()
        Path(command.get_ext_fullpath(MODULE)).unlink(missing_ok=True)  # better none than an old one
        command.run()


class CompiledModule(BuildHookInterface[Any]):
    """Adds the module to a wheel. It is compiled in place, so it is there for an editable installation as well."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile it, if that works: then the wheel is for this platform and version of Python only."""
        del version
        if self.target_name != "wheel":
            return
        try:
            compile_in_place()
        except (BaseError, CompileError, LinkError) as problem:
            self.app.display_warning(
                f"{MODULE} is left out, and some decisions will take longer, as it does not compile: {problem}. It "
                "needs a C compiler and the headers of Python (Debian: gcc, libc6-dev, python3-dev)."
            )
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["artifacts"] += ["scheduler/kernels/_compiled.*.so", "scheduler/kernels/_compiled.*.pyd"]


if __name__ == "__main__":
    os.chdir(Path(__file__).parent)
    compile_in_place()
