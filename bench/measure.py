"""Running a program and saying what it took."""
import os
import subprocess
import threading
import time


def watch_peak(pid, peak):
    """Keeps VmHWM of a process, MB, in peak[0]. (Its ru_maxrss would begin with what this Python holds.)"""
    try:
        while True:
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                for line in file:
                    if line.startswith("VmHWM:"):
                        peak[0] = max(peak[0], int(line.split()[1]) / 1024)
            time.sleep(0.005)
    except OSError:
        return


def measured(command, **options):
    """(wall seconds, CPU seconds, peak resident MB, standard output) of a whole process."""
    peak = [0.0]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    watcher = threading.Thread(target=watch_peak, args=(process.pid, peak), daemon=True)
    watcher.start()
    out = process.stdout.read()
    err = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command[0]} failed: {err.decode(errors='replace')[-2000:]}")
    return wall, usage.ru_utime + usage.ru_stime, peak[0], out
