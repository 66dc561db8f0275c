package io.commitbridge.spark;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import io.commitbridge.internal.Destination;
import io.commitbridge.internal.SparkSettings;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.SparkSessionExtensionsProvider;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.runtime.BoxedUnit;

/**
 * Looks at the configuration when a Spark session starts, and at every write: where the daemon's
 * endpoints are set but a write to a bridged destination would not reach it, the start warns and
 * the write fails, with a sentence that names the keys. See {@link ConfKeys#SPARK_CHECK}.
 *
 * <p>Spark finds it as a service; nothing has to be set for it.
 */
public class BridgeSessionCheck implements SparkSessionExtensionsProvider {
  private static final Logger LOG = LoggerFactory.getLogger(BridgeSessionCheck.class);
  private static final String WRITE = "InsertIntoHadoopFsRelationCommand";

  /** Makes the check; Spark does. */
  public BridgeSessionCheck() {}

  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    SparkEnv env = SparkEnv.get();
    if (env != null) {
      warn(env.conf());
    }
    extensions.injectCheckRule(session -> plan -> check(session, plan));
    return BoxedUnit.UNIT;
  }

  private static void warn(SparkConf conf) {
    SparkSettings settings = new SparkSettings(key -> conf.get(key, ""));
    for (String scheme : conf.get("spark.hadoop." + ConfKeys.SCHEMES, "s3a").split(",")) {
      for (boolean isParquet : new boolean[] {true, false}) {
        String problem = settings.problem(isParquet, scheme.trim());
        if (problem != null) {
          LOG.warn(problem);
        }
      }
    }
  }

  /** Spark's analyzer calls it for every plan. */
  private static BoxedUnit check(SparkSession session, LogicalPlan plan) {
    if (plan.getClass().getSimpleName().equals(WRITE)) {
      String problem = problem(session, plan);
      if (problem != null) {
        throw BridgeCommitProtocol.unchecked(
            new CommitbridgeException(CommitbridgeException.CONFIGURATION, problem));
      }
    }
    return BoxedUnit.UNIT;
  }

  private static String problem(SparkSession session, LogicalPlan write) {
    try {
      SparkSettings settings = new SparkSettings(key -> value(session, key));
      if (!settings.isRefused()) {
        return null;
      }
      Path path = (Path) write.getClass().getMethod("outputPath").invoke(write);
      String format =
          write.getClass().getMethod("fileFormat").invoke(write).getClass().getSimpleName();
      Configuration conf = session.sparkContext().hadoopConfiguration();
      return Destination.isBridged(path, conf)
          ? settings.problem(format.startsWith("Parquet"), Destination.scheme(path, conf)) : null;
    } catch (ReflectiveOperationException | RuntimeException e) {
      // It's a check of configurations, no reason to fail a write that may be right.
      LOG.warn("The write's configuration could not be checked: {}", String.valueOf(e));
      return null;
    }
  }

  /** Not with a default: Spark 4.2 refuses one that isn't a value of the key. */
  private static String value(SparkSession session, String key) {
    Option<String> value = session.conf().getOption(key);
    return value.isEmpty() || value.get().equals("<undefined>") ? "" : value.get();
  }
}
