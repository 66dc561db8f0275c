import io.commitbridge.BridgeOutputCommitter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl;

/**
 * Writes files of equal length as an executor does: by S3A alone, or as the tasks of a job that Commitbridge commits.
 * Arguments: {@code s3a | commitbridge}, directory, bytes of a file, files of a task, tasks, tasks at a time, and Hadoop's
 * configuration as {@code key=value}. Two tasks at a time warm it up; then it prints {@code ready}, waits for a line,
 * writes, and prints what that took.
 */
public final class DataPlane {
  private static final byte[] CHUNK = new byte[64 * 1024];
  private static final String JOB = "202601010000";

  private final Configuration conf = new Configuration();
  private final boolean isS3a;
  private final int fileBytes;
  private final int filesOfTask;
  private final int atOnce;

  private DataPlane(String[] args) {
    isS3a = args[0].equals("s3a");
    fileBytes = Integer.parseInt(args[2]);
    filesOfTask = Integer.parseInt(args[3]);
    atOnce = Integer.parseInt(args[5]);
    for (int i = 6; i < args.length; i++) {
      int cut = args[i].indexOf('=');
      conf.set(args[i].substring(0, cut), args[i].substring(cut + 1));
    }
  }

  public static void main(String[] args) throws Exception {
    new Random(1).nextBytes(CHUNK);
    DataPlane plane = new DataPlane(args);
    int tasks = Integer.parseInt(args[4]);
    plane.write(args[1] + "/warm-up", Math.max(1, tasks / 4));
    System.out.println("ready");
    new BufferedReader(new InputStreamReader(System.in)).readLine();
    long cpu = cpuNanos();
    long started = System.nanoTime();
    plane.write(args[1] + "/measured", tasks);
    double seconds = (System.nanoTime() - started) / 1e9;
    System.out.printf(
        Locale.ROOT, "{\"seconds\": %.4f, \"cpu_s\": %.4f}%n", seconds, (cpuNanos() - cpu) / 1e9);
    System.exit(0);
  }

  private void write(String directory, int tasks) throws Exception {
    Configuration job = new Configuration(conf);
    Path destination = new Path(directory);
    job.set("commitbridge.job.token", "data-" + directory.replaceAll("[^A-Za-z0-9]+", "-"));
    JobContextImpl jobContext = new JobContextImpl(job, new JobID(JOB, 1));
    BridgeOutputCommitter driver = isS3a ? null : new BridgeOutputCommitter(destination, jobContext);
    if (driver != null) {
      driver.setupJob(jobContext);
    }
    AtomicInteger next = new AtomicInteger();
    ExecutorService pool = Executors.newFixedThreadPool(atOnce);
    List<Future<?>> writers = new ArrayList<>();
    for (int i = 0; i < atOnce; i++) {
      writers.add(pool.submit(() -> {
        for (int task = next.getAndIncrement(); task < tasks; task = next.getAndIncrement()) {
          writeTask(job, destination, task);
        }
        return null;
      }));
    }
    for (Future<?> writer : writers) {
      writer.get();
    }
    pool.shutdown();
    if (driver != null) {
      driver.commitJob(jobContext);
    }
  }

  private void writeTask(Configuration job, Path destination, int task) throws IOException {
    if (isS3a) {
      writeFiles(job, destination, task);
      return;
    }
    TaskAttemptID id = new TaskAttemptID(new TaskID(JOB, 1, TaskType.MAP, task), 0);
    TaskAttemptContext context = new TaskAttemptContextImpl(job, id);
    BridgeOutputCommitter committer = new BridgeOutputCommitter(destination, context);
    committer.setupTask(context);
    writeFiles(job, committer.getWorkPath(), task);
    committer.commitTask(context);
  }

  private void writeFiles(Configuration job, Path directory, int task) throws IOException {
    for (int file = 0; file < filesOfTask; file++) {
      Path path = new Path(directory, "part-" + task + "-" + file);
      try (OutputStream out = path.getFileSystem(job).create(path, true)) {
        for (int left = fileBytes; left > 0; left -= CHUNK.length) {
          out.write(CHUNK, 0, Math.min(left, CHUNK.length));
        }
      }
    }
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
