"""Eight Spark programs unlike each other, and their inputs.

    python programs.py inputs DATA            make all inputs
    python programs.py run DATA OUT PROGRAM SCALE EXECUTORS NAME

At scale s, a program reads s times as much as at scale 1.
"""
import os
import shutil
import sys

SCALES = (1, 2, 4, 8, 16)


# Inputs: each maker writes the files of one unit of scale, with a generator of random numbers of its own.

def parquet(path, columns):
    import pyarrow
    from pyarrow import parquet as pq
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pq.write_table(pyarrow.table(columns), path, compression='snappy')


def sales(rng, folder, unit):
    n = 2_400_000
    parquet(f'{folder}/sales/{unit}.parquet', dict(
        customer=rng.integers(0, 20_000, n), product=rng.integers(0, 2_000, n), day=rng.integers(0, 730, n).astype('int32'),
        quantity=rng.integers(1, 20, n).astype('int32'), price=rng.random(n) * 100))
    if unit == 0:
        parquet(f'{folder}/customers/0.parquet', dict(customer=range(20_000), region=rng.integers(0, 12, 20_000)))
        parquet(f'{folder}/products/0.parquet', dict(product=range(2_000), category=rng.integers(0, 40, 2_000)))


def edges(rng, folder, unit):
    n = 240_000
    os.makedirs(folder, exist_ok=True)
    with open(f'{folder}/{unit}.txt', 'w') as f:
        # each unit has vertices of its own, and one edge leads to the next unit
        f.writelines(f'{a} {b}\n' for a, b in (rng.integers(0, 40_000, (n, 2)) + unit * 40_000).tolist())
        f.write(f'{unit * 40_000} {(unit + 1) * 40_000}\n')


def features(rng, folder, unit):
    n = 20_000
    x = rng.normal(size=(n, 20))
    label = (x[:, :5].sum(1) + rng.normal(size=n) > 0).astype('float64')
    parquet(f'{folder}/{unit}.parquet', {'label': label, **{f'x{i}': x[:, i] for i in range(20)}})


def requests(rng, folder, unit):
    n = 135_000
    os.makedirs(folder, exist_ok=True)
    hosts, pages, codes, sizes = rng.integers(0, 500, n), rng.integers(0, 3_000, n), rng.choice([200, 200, 200, 304, 404, 500], n), rng.integers(100, 90_000, n)
    with open(f'{folder}/{unit}.log', 'w') as f:
        f.writelines(f'host{h}.example - - [01/Jan/2026:00:{i % 60:02d}:{i % 59:02d} +0000] "GET /section{p % 17}/page{p}.html?id={i} HTTP/1.1" {c} {s}\n'
                     for i, (h, p, c, s) in enumerate(zip(hosts, pages, codes, sizes)))


def clicks(rng, folder, unit):
    import numpy
    n, users = 1_100_000, 10_000
    user = rng.integers(0, users, n)
    user[rng.random(n) < 0.25] = 7
    parquet(f'{folder}/clicks/{unit}.parquet', dict(user=user + numpy.where(user == 7, 0, unit * users), value=rng.random(n), note=[f'note {i % 977}' for i in range(n)]))
    parquet(f'{folder}/users/{unit}.parquet', dict(user=numpy.arange(users) + unit * users, group=rng.integers(0, 50, users)))


def records(rng, folder, unit):
    n = 225_000
    parquet(f'{folder}/{unit}.parquet', dict(key=rng.integers(0, 1 << 40, n), payload=[rng.bytes(60).hex() for _ in range(n)]))


def readings(rng, folder, unit):
    os.makedirs(folder, exist_ok=True)
    for part in range(4):
        n = 4_000
        with open(f'{folder}/{unit:02d}-{part}.json', 'w') as f:
            f.writelines(f'{{"sensor": {s}, "second": {unit * 60 + i % 60}, "value": {v:.4f}}}\n'
                         for i, (s, v) in enumerate(zip(rng.integers(0, 200, n), rng.random(n))))


def small_files(rng, folder, unit):
    os.makedirs(folder, exist_ok=True)
    for part in range(16):
        with open(f'{folder}/{unit:02d}-{part:02d}.csv', 'w') as f:
            f.write('station,temperature,pressure\n')
            f.writelines(f'{s},{t:.2f},{p:.1f}\n' for s, t, p in zip(rng.integers(0, 300, 1_000), rng.normal(12, 8, 1_000), rng.normal(1013, 9, 1_000)))


INPUTS = dict(star=sales, reach=edges, regression=features, parse=requests, skew=clicks, shuffle=records, stream=readings, files=small_files)


def make_inputs(data):
    import numpy
    for number, (program, maker) in enumerate(INPUTS.items()):
        for scale in SCALES:
            folder = f'{data}/{program}-{scale}'
            shutil.rmtree(folder, ignore_errors=True)
            for unit in range(scale):
                maker(numpy.random.default_rng([number, unit]), folder, unit)


# Programs

def star(spark, data, out):
    """SQL: joins that AQE re-plans, a window, and a partitioned write."""
    for table in ('sales', 'customers', 'products'):
        spark.read.parquet(f'{data}/{table}').createOrReplaceTempView(table)
    spark.sql('''
        select region, category, day, revenue from (
            select *, rank() over (partition by region, category order by revenue desc) as place from (
                select region, category, day, sum(quantity * price) as revenue
                from sales join customers using (customer) join products using (product)
                group by region, category, day))
        where place <= 5''').write.mode('overwrite').partitionBy('region').parquet(f'{out}/best-days')


def reach(spark, data, out):
    """Iterations over a cached graph: distances from one vertex, in Python on RDDs."""
    links = spark.sparkContext.textFile(data, 4).map(lambda line: tuple(map(int, line.split()))) \
        .flatMap(lambda e: (e, e[::-1])).groupByKey(6).mapValues(set).cache()
    distance = links.mapValues(lambda _: None).map(lambda kv: (kv[0], 0 if kv[0] == 0 else None), preservesPartitioning=True)

    def nearer(a, b):
        return b if a is None else a if b is None else min(a, b)
    for _ in range(4):
        spread = links.join(distance, 6).flatMap(
            lambda kv: [(kv[0], kv[1][1])] + ([(n, kv[1][1] + 1) for n in kv[1][0]] if kv[1][1] is not None else []))
        distance = spread.reduceByKey(nearer, 6)
        distance.filter(lambda kv: kv[1] is not None).count()


def regression(spark, data, out):
    """Many short jobs: logistic regression of MLlib over cached rows."""
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import VectorAssembler
    rows = VectorAssembler(inputCols=[f'x{i}' for i in range(20)], outputCol='features') \
        .transform(spark.read.parquet(data)).select('label', 'features').cache()
    model = LogisticRegression(maxIter=15, regParam=0.01, elasticNetParam=0.5).fit(rows)
    model.transform(rows).groupBy('label', 'prediction').count().collect()


def parse(spark, data, out):
    """Functions in Python on each row: lines of a web server, parsed and counted."""
    import re
    from pyspark.sql import functions as F
    line = re.compile(r'(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (/(\w+)/[^?" ]*)[^"]*" (\d+) (\d+)')

    @F.udf('struct<host string, section string, page string, code int, bytes int>')
    def fields(text):
        m = line.match(text)
        return (m[1], m[5], m[4], int(m[6]), int(m[7])) if m else None

    @F.udf('string')
    def network(host):
        return 'even' if sum(map(ord, host)) % 2 == 0 else 'odd'
    rows = spark.read.text(data).select(fields('value').alias('r')).select('r.*').where('code = 200')
    rows.groupBy('section', network('host').alias('network')).agg(F.count('*'), F.sum('bytes'), F.countDistinct('page')).collect()


def skew(spark, data, out):
    """A join in which one key has a quarter of the rows."""
    from pyspark.sql import functions as F
    clicks, users = spark.read.parquet(f'{data}/clicks'), spark.read.parquet(f'{data}/users')
    clicks.join(users.hint('merge'), 'user').groupBy('group').agg(F.sum('value'), F.max('note'), F.countDistinct('user')).collect()


def shuffle(spark, data, out):
    """A wide shuffle of whole rows, then a sort."""
    from pyspark.sql import functions as F
    rows = spark.read.parquet(data).repartition(32, F.col('key') % 65_537)
    rows.groupBy((F.col('key') % 50_000).alias('bucket')).agg(F.count('*').alias('rows'), F.max('payload').alias('last')) \
        .orderBy('last').write.format('noop').mode('overwrite').save()


def stream(spark, data, out):
    """A stream with state: four files in a batch, counts and means by sensor."""
    from pyspark.sql import functions as F
    readings = spark.readStream.schema('sensor int, second int, value double').option('maxFilesPerTrigger', 4).json(data)
    query = readings.groupBy('sensor').agg(F.count('*'), F.avg('value')).writeStream.outputMode('update') \
        .format('noop').option('checkpointLocation', f'{out}/checkpoint').trigger(availableNow=True).start()
    query.awaitTermination()


def files(spark, data, out):
    """Many small files: one task reads one file, once for the schema and once for the rows."""
    rows = spark.read.option('header', True).option('inferSchema', True).csv(data)
    rows.groupBy('station').agg({'temperature': 'avg', 'pressure': 'max'}).orderBy('station').collect()


PROGRAMS = {f.__name__: f for f in (star, reach, regression, parse, skew, shuffle, stream, files)}
SETTINGS = {'files': {'spark.sql.files.openCostInBytes': 4 << 20}, 'stream': {'spark.sql.shuffle.partitions': 4}, 'skew': {'spark.sql.shuffle.partitions': 12}}


def run(data, out, program, scale, executors, name):
    from pyspark.sql import SparkSession
    settings = {
        'spark.eventLog.enabled': 'true', 'spark.eventLog.dir': f'file://{out}', 'spark.eventLog.compress': 'false',
        'spark.eventLog.rolling.enabled': 'false', 'spark.ui.enabled': 'false', 'spark.driver.host': 'localhost',
        'spark.driver.memory': '800m', 'spark.executor.memory': '900m', 'spark.scheduler.minRegisteredResourcesRatio': '1.0',
        'spark.sql.files.maxPartitionBytes': 4 << 20, 'spark.sql.files.openCostInBytes': 0, 'spark.sql.shuffle.partitions': 16,
        'spark.sql.warehouse.dir': f'{out}/warehouse', 'spark.local.dir': f'{out}/local',
        **SETTINGS.get(program, {}),
    }
    builder = SparkSession.builder.master(f'local-cluster[{executors},1,1000]').appName(name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel('ERROR')
    PROGRAMS[program](spark, f'{data}/{program}-{scale}', out)
    spark.stop()


if __name__ == '__main__':
    if sys.argv[1] == 'inputs':
        make_inputs(sys.argv[2])
    else:
        data, out, program, scale, executors, name = sys.argv[2:]
        run(data, out, program, int(scale), int(executors), name)
