"""What rewriting makes of pages is read by Spark as it should be, vectorised and not: pages joined and moved, of both versions, flat,
nullable and nested, and random cases. FIRN_REWRITE_READERS makes the cases (test_rewrite_readers.c); each out.parquet must hold the
rows of expected.parquet, which PyArrow wrote. FIRN_SPARK names the folder of a Spark installation; FOLDER as argument: cases kept by hand."""
import glob
import os
import subprocess
import sys
import tempfile

SPARK = os.environ.get("FIRN_SPARK")
MAKER = os.environ.get("FIRN_REWRITE_READERS")
sites = glob.glob(os.path.join(SPARK or "", "venv", "lib", "python3*", "site-packages"))
if not SPARK or not sites or not (MAKER or sys.argv[1:]):
    print("skipped: FIRN_SPARK names no Spark, or FIRN_REWRITE_READERS no program")
    sys.exit(1 if os.environ.get("FIRN_CI") else 77)
sys.path.insert(0, sites[0])
from pyspark.sql import SparkSession  # noqa: E402


def start():
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config(
        "spark.sql.session.timeZone", "UTC").config("spark.driver.memory", "1g").config(
        "spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def rows(spark, path):
    return spark.read.parquet(path).coalesce(1).toJSON().collect()


def check(spark, folder):
    """How many ways to read it were right, and how many wrong; (0, 0) where Spark has no type for a column, whoever wrote it."""
    right = wrong = 0
    for vectorised in ("true", "false"):
        spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorised)
        spark.conf.set("spark.sql.parquet.enableNestedColumnVectorizedReader", vectorised)
        try:
            expected = rows(spark, f"{folder}/expected.parquet")
        except Exception as error:
            print("skipped", folder, str(error).splitlines()[0][:100])
            continue
        if rows(spark, f"{folder}/out.parquet") == expected:
            right += 1
        else:
            print("WRONG", folder, "vectorised" if vectorised == "true" else "not vectorised")
            wrong += 1
    return right, wrong


def main():
    with tempfile.TemporaryDirectory() as made:
        folder = made
        if sys.argv[1:]:
            folder = sys.argv[1]
        else:
            settings = os.environ | {"FIRN_KEEP_CASES": made, "FIRN_CASES_FOR": "spark", "FIRN_CASES": "3"}
            subprocess.run([MAKER], env=settings, check=True)
        spark = start()
        cases = sorted(glob.glob(os.path.join(folder, "*", "")))
        results = {os.path.basename(case[:-1]): check(spark, case) for case in cases}
        spark.stop()
    forms = [result for name, result in results.items() if name.startswith(("forms-", "encodings-"))]
    print(f"{sum(right for right, _ in results.values())} right, {sum(wrong for _, wrong in results.values())} wrong")
    done = len(forms) == 8 and all(result == (2, 0) for result in forms)
    sys.exit(0 if done and not any(wrong for _, wrong in results.values()) else 1)


main()
