package io.commitbridge.it.matrix;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Collections;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;

/**
 * Appends the rows of {@code query} to the CSV files of {@code path}, which must exist, by the file sources of
 * DataSource V2. No call of Spark's public API gets there, so the plan is made here, by methods that differ a little
 * between versions.
 */
final class V2Write {
  private static final String V2 = "org.apache.spark.sql.execution.datasources.v2.";

  private V2Write() {}

  static void run(SparkSession spark, JsonNode step) throws Exception {
    Map<String, String> options = Collections.singletonMap("path", step.get("path").asText());
    Dataset<Row> rows = spark.sql(step.get("query").asText());
    TableProvider source =
        (TableProvider) Class.forName(V2 + "csv.CSVDataSourceV2").getDeclaredConstructor().newInstance();
    Table table = source.getTable(rows.schema(), new Transform[0], options);
    Object relation =
        call(
            V2 + "DataSourceV2Relation",
            "create",
            table,
            Option.empty(),
            Option.empty(),
            new CaseInsensitiveStringMap(options));
    Object query = rows.getClass().getMethod("logicalPlan").invoke(rows);
    Object append = call("org.apache.spark.sql.catalyst.plans.logical.AppendData", "byPosition", relation, query);
    call(datasets(), "ofRows", spark, append);
  }

  private static String datasets() {
    try {
      return Class.forName("org.apache.spark.sql.classic.Dataset").getName();
    } catch (ClassNotFoundException e) {
      return Dataset.class.getName(); // before 4
    }
  }

  /** Calls a method of a companion object; parameters that are left out have their defaults. */
  private static Object call(String type, String name, Object... given) throws Exception {
    Class<?> companion = Class.forName(type + "$");
    Object module = companion.getField("MODULE$").get(null);
    Method best = null;
    for (Method method : companion.getMethods()) {
      boolean fits = method.getName().equals(name) && !Modifier.isStatic(method.getModifiers());
      if (fits && takes(method, given) && (best == null || method.getParameterCount() < best.getParameterCount())) {
        best = method;
      }
    }
    if (best == null) {
      throw new NoSuchMethodException(type + "." + name);
    }
    Object[] all = new Object[best.getParameterCount()];
    System.arraycopy(given, 0, all, 0, given.length);
    for (int i = given.length; i < all.length; i++) {
      all[i] = companion.getMethod(name + "$default$" + (i + 1)).invoke(module);
    }
    try {
      return best.invoke(module, all);
    } catch (InvocationTargetException e) {
      throw e.getCause() instanceof Exception ? (Exception) e.getCause() : e;
    }
  }

  private static boolean takes(Method method, Object[] given) {
    if (method.getParameterCount() < given.length) {
      return false;
    }
    for (int i = 0; i < given.length; i++) {
      if (!method.getParameterTypes()[i].isInstance(given[i])) {
        return false;
      }
    }
    return true;
  }
}
