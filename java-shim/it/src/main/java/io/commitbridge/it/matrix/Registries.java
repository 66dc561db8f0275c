package io.commitbridge.it.matrix;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/** The shim's only static state about jobs. */
final class Registries {
  private Registries() {}

  /** Of the driver, then as tasks on the executors see it. */
  static List<Integer> sizes(SparkSession spark) throws Exception {
    List<Integer> sizes = new ArrayList<>();
    sizes.add(size());
    sizes.addAll(
        new JavaSparkContext(spark.sparkContext())
            .parallelize(Arrays.asList(0, 1, 2, 3, 4, 5, 6, 7), 8)
            .map(number -> size())
            .collect());
    return sizes;
  }

  private static int size() throws Exception {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    Method size = Class.forName("io.commitbridge.internal.AttemptRegistry", true, loader).getDeclaredMethod("size");
    size.setAccessible(true);
    return (Integer) size.invoke(null);
  }
}
