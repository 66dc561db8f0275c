// Fetches or builds once, into .cache, what runs beside the daemon in the quickstart and the tests.
import { benchSpark } from '../../bench/lib/bench-spark.js';
import { installOssClients } from '../../test/oss/clients/install.js';
import { versions as hadoopVersions } from '../../test/e2e/mapreduce/versions.js';
import { buildHadoopJobs, installHadoopJars } from '../../test/support/hadoop/index.js';
import { installS3Proxy, installVersityGw } from '../../test/support/servers/index.js';
import { hadoopCloudVersions, versions } from '../../test/e2e/spark-matrix/versions.js';
import {
  buildSparkJobs,
  defaultSpark,
  installHadoopCloudJar,
  installOssJars,
  installSparkJars,
} from '../../test/support/spark/index.js';
import { bundleJar } from './bundle-jar.js';

const fetchers: Record<string, () => Promise<unknown>> = {
  s3proxy: installS3Proxy,
  versitygw: installVersityGw,
  spark: installSparkJars,
  'oss-clients': installOssClients,
  aliyun: installOssJars,
  jobs: () => buildSparkJobs(defaultSpark, bundleJar),
  'bench-spark': async () => {
    await buildSparkJobs(benchSpark, bundleJar);
    await installHadoopCloudJar(benchSpark);
  },
  hadoop: async () => {
    for (const version of hadoopVersions()) await installHadoopJars(version);
  },
  mapreduce: async () => {
    for (const version of hadoopVersions()) await buildHadoopJobs(version, bundleJar);
  },
  matrix: async () => {
    for (const [, version] of versions()) await buildSparkJobs(version, bundleJar);
    for (const [, version] of hadoopCloudVersions()) await installHadoopCloudJar(version);
  },
};

for (const name of process.argv.slice(2)) {
  const fetcher = fetchers[name];
  if (fetcher === undefined) {
    throw new Error(`There is nothing called ${name} to fetch: ${Object.keys(fetchers).join(', ')}.`);
  }
  await fetcher();
}
