package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.commitbridge.BridgeOutputCommitter;
import io.commitbridge.BridgeParquetOutputCommitter;
import io.commitbridge.ConfKeys;
import java.io.File;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter;
import org.apache.parquet.hadoop.ParquetOutputCommitter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Destinations that aren't the daemon's, and that nothing bypasses it where they are. */
class PassThroughTest extends Fixture {
  @Test
  void filesOfOtherSchemesGoToHadoopsCommitter(@TempDir File folder) throws Exception {
    conf.unset(ConfKeys.ENDPOINTS);
    // Or Parquet's committer looks for footers in what's no Parquet.
    conf.set("parquet.summary.metadata.level", "NONE");
    conf.setInt(FileOutputCommitter.FILEOUTPUTCOMMITTER_ALGORITHM_VERSION, 2);
    Path destination = new Path(folder.toURI());
    for (Class<?> type : Arrays.asList(
        BridgeOutputCommitter.class, BridgeParquetOutputCommitter.class)) {
      TaskAttemptContext task = task(0, 0);
      String name = type.getSimpleName();
      FileOutputCommitter committer = (FileOutputCommitter) type
          .getConstructor(Path.class, TaskAttemptContext.class).newInstance(destination, task);
      committer.setupJob(job("job_20260101_0007"));
      committer.setupTask(task);
      assertEquals("file", committer.getWorkPath().toUri().getScheme());
      write(committer.getWorkPath(), name, bytes(10));
      assertTrue(committer.needsTaskCommit(task));
      committer.commitTask(task);
      assertFalse(new File(folder, name).exists(), "v1 shows nothing before the job's commit");
      committer.commitJob(job("job_20260101_0007"));
      assertEquals(10, Files.size(new File(folder, name).toPath()));
      assertTrue(new File(folder, "_SUCCESS").exists());
      assertFalse(new File(folder, "_temporary").exists());
    }
    assertEquals(0, daemon.calls.size());
    conf.set(ConfKeys.ENDPOINTS, daemon.endpoint());
  }

  @Test
  void schemesCanBeChosen() throws Exception {
    assertTrue(Destination.isBridged(new Path("oss://b/t"), conf));
    assertTrue(Destination.isBridged(new Path("S3A://b/t"), conf));
    assertFalse(Destination.isBridged(new Path("hdfs://n/t"), conf));
    conf.set(ConfKeys.SCHEMES, "cos, s3a");
    assertTrue(Destination.isBridged(new Path("cos://b/t"), conf));
    assertFalse(Destination.isBridged(new Path("oss://b/t"), conf));
  }

  /** A method that isn't overridden would do FileOutputCommitter's I/O at the destination. */
  @Test
  void everyMethodIsOverridden() {
    List<String> missing = new ArrayList<>();
    for (Class<?> type : Arrays.asList(
        BridgeOutputCommitter.class, BridgeParquetOutputCommitter.class)) {
      for (Class<?> base = type.getSuperclass(); base != Object.class;
          base = base.getSuperclass()) {
        for (Method method : base.getDeclaredMethods()) {
          int modifiers = method.getModifiers();
          boolean inherited = (Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers))
              && !Modifier.isStatic(modifiers) && !method.isSynthetic();
          // Asks getOutputPath, nothing else.
          if (inherited && !method.getName().equals("hasOutputPath")) {
            try {
              type.getDeclaredMethod(method.getName(), method.getParameterTypes());
            } catch (NoSuchMethodException e) {
              missing.add(type.getSimpleName() + " " + method);
            }
          }
        }
      }
    }
    assertEquals(Collections.emptyList(), missing);
    assertTrue(ParquetOutputCommitter.class.isAssignableFrom(BridgeParquetOutputCommitter.class));
  }
}
