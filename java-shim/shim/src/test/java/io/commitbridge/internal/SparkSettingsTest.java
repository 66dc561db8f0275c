package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.commitbridge.BridgeCommitterFactory;
import io.commitbridge.BridgeOutputCommitter;
import io.commitbridge.BridgeParquetOutputCommitter;
import io.commitbridge.spark.BridgeCommitProtocol;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Half-configured bindings, and the settings of other committers in a cluster's defaults. */
class SparkSettingsTest {
  private static final String CLOUD = "org.apache.spark.internal.io.cloud.";
  private static final String S3A_FACTORY = "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory";
  private final Map<String, String> conf = new HashMap<>();

  private SparkSettingsTest set(String key, String value) {
    conf.put(key, value);
    return this;
  }

  private SparkSettingsTest endpoints() {
    return set("spark.hadoop.commitbridge.endpoints", "localhost:7777");
  }

  /** As Hadoop's and Spark's documentation of the S3A committers has it. */
  private SparkSettingsTest s3aCommitters() {
    return set("spark.hadoop.fs.s3a.committer.name", "magic")
        .set(SparkSettings.PROTOCOL, CLOUD + "PathOutputCommitProtocol")
        .set(SparkSettings.PARQUET, CLOUD + "BindingParquetOutputCommitter")
        .set(SparkSettings.FACTORY + "scheme.s3a", S3A_FACTORY);
  }

  private String problem(boolean isParquet) {
    return new SparkSettings(key -> conf.getOrDefault(key, "")).problem(isParquet, "s3a");
  }

  private void assertRight() {
    assertNull(problem(true));
    assertNull(problem(false));
  }

  private void assertNames(boolean isParquet, String... keys) {
    String text = problem(isParquet);
    assertNotNull(text);
    for (String key : keys) {
      assertTrue(text.contains(key), text);
    }
    assertTrue(text.contains(SparkSettings.PROTOCOL + "=" + BridgeCommitProtocol.class.getName()),
        text);
  }

  @Test
  void nothingIsSaidWithoutEndpoints() {
    assertRight();
    s3aCommitters().assertRight();
  }

  @Test
  void commitProtocolIsEnoughWhateverElseIsSet() {
    endpoints().s3aCommitters()
        .set(SparkSettings.PROTOCOL, BridgeCommitProtocol.class.getName()).assertRight();
  }

  @Test
  void endpointsAloneAreHalfConfigured() {
    endpoints().assertNames(true, SparkSettings.PARQUET + " is not set");
    assertNames(false, SparkSettings.COMMITTER + " is not set");
  }

  @Test
  void eachFormatHasAKeyOfItsOwn() {
    endpoints().set(SparkSettings.COMMITTER, BridgeOutputCommitter.class.getName());
    assertNull(problem(false));
    assertNames(true, SparkSettings.PARQUET);
    set(SparkSettings.PARQUET, BridgeParquetOutputCommitter.class.getName()).assertRight();
    conf.remove(SparkSettings.COMMITTER);
    assertNull(problem(true));
    assertNames(false, SparkSettings.COMMITTER);
  }

  @Test
  void whatExtendsOursIsOurs() {
    class Extended extends BridgeCommitterFactory {}

    endpoints().set(SparkSettings.PROTOCOL, CLOUD + "PathOutputCommitProtocol")
        .set(SparkSettings.FACTORY + "scheme.s3a", Extended.class.getName()).assertRight();
    set(SparkSettings.FACTORY + "scheme.s3a", Object.class.getName()).assertNames(true, "s3a");
  }

  @Test
  void factoryServesWhatAsksIt() {
    endpoints().set(SparkSettings.FACTORY + "scheme.s3a", BridgeCommitterFactory.class.getName());
    assertNull(problem(false));
    assertNames(true, SparkSettings.PARQUET);
    set(SparkSettings.COMMITTER, "org.example.Committer").assertNames(false, "org.example.Committer");
    conf.remove(SparkSettings.COMMITTER);
    // Hadoop looks at this one first.
    set(SparkSettings.FACTORY + "class", S3A_FACTORY).assertNames(false, SparkSettings.COMMITTER);
  }

  @Test
  void pathOutputCommitProtocolIgnoresOurCommitters() {
    endpoints().s3aCommitters()
        .set(SparkSettings.COMMITTER, BridgeOutputCommitter.class.getName())
        .set(SparkSettings.PARQUET, BridgeParquetOutputCommitter.class.getName());
    assertNames(true, "PathOutputCommitProtocol", SparkSettings.FACTORY + "scheme.s3a");
    assertNames(false, "PathOutputCommitProtocol");
    set(SparkSettings.FACTORY + "scheme.s3a", BridgeCommitterFactory.class.getName())
        .assertRight();
  }

  @Test
  void bindingParquetCommitterIsNotOurs() {
    endpoints().s3aCommitters();
    conf.remove(SparkSettings.PROTOCOL);
    assertNames(true, "BindingParquetOutputCommitter");
  }

  @Test
  void refusalCanBeTurnedOff() {
    assertTrue(new SparkSettings(key -> "").isRefused());
    set("spark.hadoop.commitbridge.spark.check", "warn");
    assertFalse(new SparkSettings(key -> conf.getOrDefault(key, "")).isRefused());
    assertEquals("commitbridge.spark.check", io.commitbridge.ConfKeys.SPARK_CHECK);
  }
}
