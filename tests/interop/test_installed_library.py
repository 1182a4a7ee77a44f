"""examples/compact.c, built against the installed library by pkg-config, opens, plans and compacts a table."""
import os
import shutil
import subprocess
import tempfile

import kit
import tables

ROOT = tempfile.mkdtemp(prefix="firn-installed-")
PREFIX = os.path.join(ROOT, "prefix")
BUILD = os.environ.get("FIRN_BUILD") or kit.skip("FIRN_BUILD names no build folder")
EXAMPLE = os.path.join(kit.HERE, "..", "..", "examples", "compact.c")


def run(*command, **environment):
    done = subprocess.run(command, env=dict(os.environ, **environment), text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    kit.check(done.returncode == 0, f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def install():
    run("cmake", "--install", BUILD, "--prefix", PREFIX)
    for path in ("bin/firn", "lib/pkgconfig/firn.pc", "include/firn/firn.h", "share/man/man1/firn.1"):
        found = [p for p in (path, path.replace("lib/", "lib/x86_64-linux-gnu/", 1))
                 if os.path.exists(os.path.join(PREFIX, p))]
        kit.check(found, f"{path} was not installed")


def pkg_config():
    folders = [d for d, _, names in os.walk(PREFIX) if "firn.pc" in names]
    flags = run("pkg-config", "--define-prefix", "--cflags", "--libs", "firn", PKG_CONFIG_PATH=folders[0]).split()
    return flags, os.path.dirname(folders[0])


def example_compacts():
    flags, libraries = pkg_config()
    program = os.path.join(ROOT, "compact")
    run(os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", EXAMPLE, *flags, "-o", program)
    folder = os.path.join(ROOT, "table")
    _, where, _ = tables.make(folder)
    before = kit.read("duckdb", where)
    out = run(program, os.path.join(folder, "catalog.db"), "db.events", LD_LIBRARY_PATH=libraries)
    kit.check("files became 5" in out, out)
    kit.same_rows(kit.read("duckdb", where), before, "after the example")
    again = run(program, os.path.join(folder, "catalog.db"), "db.events", LD_LIBRARY_PATH=libraries)
    kit.check("0 files became 0" in again, again)


try:
    kit.main([install, example_compacts])
finally:
    shutil.rmtree(ROOT, ignore_errors=True)
