"""Help, manual page and completions name the same verbs and options."""
import os
import re
import shutil
import subprocess

import kit

MAN = os.path.join(kit.SOURCE, "docs", "firn.1")
BASH = os.path.join(kit.SOURCE, "completions", "firn.bash")
ZSH = os.path.join(kit.SOURCE, "completions", "_firn")


def verbs_of_help(world):
    text = world.firn("help").stdout
    block = text.split("Verbs:\n")[1].split("\n\n")[0]
    found = []
    for line in block.splitlines():
        if line.startswith("   "):
            continue
        usage = re.split(r"  +", line.strip())[0]
        found.append(" ".join(word for word in usage.split() if re.fullmatch("[a-z-]+", word)))
    return found


def options_of(world, verb):
    text = world.firn("help", *verb.split()).stdout
    return re.findall(r"^  (?:-[a-zA-Z], |    )--([a-z-]+)", text.split("Options:\n")[1], re.M)


def manual():
    with open(MAN, encoding="utf-8") as file:
        return file.read().replace("\\-", "-")


def help_and_manual_agree(world):
    verbs = verbs_of_help(world)
    kit.check(len(verbs) >= 14, f"few verbs: {verbs}")
    text = manual()
    section = text.split(".SH VERBS\n")[1].split(".SH ")[0]
    heads = re.findall(r"^\.SS (.*)$", section, re.M)
    named = [re.match(r"[a-z -]*[a-z]", head).group(0) for head in heads]
    kit.equal(sorted(named), sorted(verbs), "verbs of the manual page")
    for verb, head in zip(named, heads):
        usage = world.firn("help", *verb.split()).stdout.splitlines()[0]
        kit.equal(usage, f"Usage: firn {head} [options]", "usage of the manual page")
    options = sorted({option for verb in verbs for option in options_of(world, verb)})
    section = text.split(".SH OPTIONS\n")[1].split(".SH ")[0]
    described = re.findall(r"^\.TP\n\.B[A-Z]* .*?--([a-z-]+)", section, re.M)
    kit.equal(sorted(described), options, "options of the manual page")
    heads = re.findall(r"^\.SS (.*)$", section, re.M)
    kit.equal(sorted(heads), sorted(set(heads)), "sections of options")


def plain(text):
    """What a part of the manual page says, without its requests."""
    text = re.sub(r"\\f[A-Z]|\\~|\"", lambda match: " " if match.group(0) == "\\~" else "", text)
    text = re.sub(r"^\.[A-Z]+ *", "", text, flags=re.M)
    return " ".join(text.split())


def options_say_the_same(world):
    """Values, and what holds without an option, are the same in help and manual page."""
    section = manual().split(".SH OPTIONS\n")[1].split(".SH ")[0]
    texts = {re.search(r"--([a-z-]+)", part).group(1): plain(part) for part in re.split(r"^\.TP\n", section, flags=re.M)[1:]}
    compared = 0
    for verb in verbs_of_help(world):
        for option in world.json("help", *verb.split())["options"]:
            name, text = option["name"][2:], texts[option["name"][2:]]
            if option["value"] is not None:
                kit.check(option["value"].replace("\u2026", "...") in text, f"--{name} {option['value']} in: {text}")
            for otherwise in re.findall(r"without it (\d[\w.]*)", option["help"]):
                compared += 1
                kit.check(re.search(rf"[Ww]ithout it {otherwise}\b|else {otherwise}\b", text), f"--{name} without it {otherwise}: {text}")
    kit.check(compared > 10, f"few defaults: {compared}")


def manual_page_is_clean(world):
    del world
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z", MAN], capture_output=True,
                              text=True, check=False)
        kit.equal((done.returncode, done.stderr), (0, ""), "groff")
    if shutil.which("man"):
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", MAN],
                              capture_output=True, text=True, check=False,
                              env=dict(os.environ, MANPAGER="cat", PAGER="cat"))
        kit.equal((done.returncode, done.stderr), (0, ""), "man --warnings")


def complete(words):
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _firn; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, "bash", BASH, *words], capture_output=True,
                          text=True, check=True)
    return sorted(word.strip() for word in done.stdout.split())


def bash_completion(world):
    verbs = verbs_of_help(world)
    kit.equal(complete(["firn", ""]), sorted({verb.split()[0] for verb in verbs}), "verbs")
    kit.equal(complete(["firn", "--json", "comp"]), ["compact"], "comp")
    kit.equal(complete(["firn", "--catalog", "x", "desc"]), ["describe"], "desc")
    for verb in verbs:
        words = verb.split()
        if len(words) == 2:
            kit.check(words[1] in complete(["firn", words[0], ""]), f"{verb} is not completed")
        kit.equal(complete(["firn", *words, "--"]),
                  sorted("--" + option for option in options_of(world, verb)), f"options of {verb}")


def zsh_completion(world):
    with open(ZSH, encoding="utf-8") as file:
        text = file.read()
    for verb in verbs_of_help(world):
        for word in verb.split():
            kit.check(re.search(rf"['\"( :]{word}[: )']", text), f"zsh does not complete {word}")
        for option in options_of(world, verb):
            kit.check(f"--{option}[" in text or f"--{option}}}" in text, f"zsh lacks --{option}")
    if shutil.which("zsh"):
        subprocess.run(["zsh", "-n", ZSH], check=True)


def help_in_every_form(world):
    general = world.firn("help").stdout
    kit.equal(world.firn("--help").stdout, general, "firn --help")
    kit.equal(world.firn("-h").stdout, general, "firn -h")
    for verb in verbs_of_help(world):
        text = world.firn("help", *verb.split()).stdout
        kit.equal(world.firn(*verb.split(), "--help").stdout, text, f"{verb} --help")
        for line in text.splitlines():
            kit.check(len(line) <= 80, f"long line in the help of {verb}: {line}")
    kit.check(all(len(line) <= 80 for line in general.splitlines()), "long line in the help")
    world.fails(2, "the nearest one is compact", "help", "compct")
    kit.contains(world.firn("--version").stdout, "firn ")
    kit.equal(world.json("--version")["command"], "version", "command")
    done = world.firn(expect=2)
    kit.equal(done.stdout, "", "standard output of firn alone")
    kit.contains(done.stderr, "Usage: firn VERB", "standard error of firn alone")


def help_speaks_of_its_verb(world):
    """What an option does for other verbs, and options that the verb lacks, are not in its help."""
    def text(*words):
        return " ".join(world.firn("help", *words).stdout.split())
    for words in (["sync"], ["register"], ["parquet", "merge"], ["scan"], ["verify"], ["audit"]):
        for wrong in ("parquet merge: ", "scan: ", "verify: ", "register, sync: ", "audit: "):
            kit.check(wrong not in text(*words), f"{words}: {wrong}")
    kit.contains(text("sync"), "--force with --on-missing delete: also where")
    kit.contains(text("parquet", "merge"), "--force replace files to write that are there already --")
    kit.contains(text("scan"), "--limit COUNT most rows to show --")
    kit.contains(text("register"), "--limit COUNT most new files to add in this run")
    kit.contains(text("register"), '"region: region string" (a column that the files lack')
    kit.check("--unit-folder" not in text("register"), "register speaks of --unit-folder")
    kit.contains(text("config", "show"), "catalogs and lakes")


def help_of_a_family(world):
    for word in ("parquet", "catalog", "config", "demo"):
        wanted = world.firn("help", word).stdout
        kit.check(wanted.count("Usage: ") >= 2, f"few verbs in the help of {word}")
        for words in ([word, "--help"], ["--help", word], [word, "-h"]):
            kit.equal(world.firn(*words).stdout, wanted, " ".join(words))
    world.fails(2, "the nearest one is parquet inspect", "parquet", "inspct", "--help")


def help_as_json(world):
    document = world.json("help", "compact")
    kit.equal(document["command"], "help", "command")
    verb, = document["verbs"]
    kit.equal((verb["name"], verb["synopsis"]), ("compact", "firn compact TABLE [options]"), "verb")
    kit.contains(world.firn("help").stdout, verb["summary"])
    options = {option["name"]: option for option in document["options"]}
    kit.equal(sorted(options), sorted("--" + name for name in options_of(world, "compact")), "options")
    kit.equal((options["--memory"]["value"], options["--yes"]["value"], options["--verbose"]["letter"]),
              ("BYTES", None, "-v"), "values and letters")
    kit.equal(world.json("compact", "--help"), document, "compact --help --json")
    kit.equal(sorted(verb["name"] for verb in world.json("help")["verbs"]), sorted(verbs_of_help(world)), "verbs")
    kit.equal(world.json("--help"), world.json("help"), "--help --json")
    family = world.json("help", "parquet")
    kit.equal([verb["name"] for verb in family["verbs"]], ["parquet inspect", "parquet verify", "parquet merge"], "verbs")
    kit.equal({option["verb"] for option in family["options"]}, {verb["name"] for verb in family["verbs"]}, "verbs of options")
    kit.equal(world.json("parquet", "--help"), family, "parquet --help --json")
    world.fails(2, "the nearest one is compact", "help", "compct")


kit.main(help_and_manual_agree, options_say_the_same, manual_page_is_clean, bash_completion, zsh_completion,
         help_in_every_form, help_speaks_of_its_verb, help_of_a_family, help_as_json)
