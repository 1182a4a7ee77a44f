"""read_with_spark.py FOLDER: what test_rewrite_readers left in FOLDER (FIRN_KEEP_CASES=FOLDER, FIRN_CASES_FOR=spark), read by Spark, vectorised and not. Each
out.parquet must hold the rows of expected.parquet, which PyArrow wrote. FIRN_SPARK names the folder of a Spark installation."""
import glob
import os
import sys

site = glob.glob(os.path.join(os.environ["FIRN_SPARK"], "venv", "lib", "python3*", "site-packages"))[0]
if site not in sys.path:
    sys.path.insert(0, site)
from pyspark.sql import SparkSession  # noqa: E402


def rows(spark, path):
    return spark.read.parquet(path).coalesce(1).toJSON().collect()


def main():
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config(
        "spark.sql.session.timeZone", "UTC").config("spark.driver.memory", "2g").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    read = skipped = wrong = 0
    for folder in sorted(glob.glob(os.path.join(sys.argv[1], "*"))):
        for vectorised in ("true", "false"):
            spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorised)
            spark.conf.set("spark.sql.parquet.enableNestedColumnVectorizedReader", vectorised)
            try:
                expected = rows(spark, f"{folder}/expected.parquet")
            except Exception as error:  # Spark has no type for some columns, whoever wrote them
                print("skipped", folder, str(error).splitlines()[0][:100])
                skipped += 1
                continue
            read += 1
            if rows(spark, f"{folder}/out.parquet") != expected:
                print("WRONG", folder, "vectorised" if vectorised == "true" else "not vectorised")
                wrong += 1
    print(f"{read} read, {skipped} skipped, {wrong} wrong")
    sys.exit(1 if wrong or not read else 0)


main()
