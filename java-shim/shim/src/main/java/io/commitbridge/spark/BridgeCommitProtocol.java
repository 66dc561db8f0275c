package io.commitbridge.spark;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.internal.Destination;
import io.commitbridge.internal.ProtocolCalls;
import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.InvocationTargetException;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.internal.io.FileNameSpec;
import org.apache.spark.internal.io.HadoopMapReduceCommitProtocol;
import org.apache.spark.mapred.SparkHadoopMapRedUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.collection.Iterator;

/**
 * The commit protocol for {@code spark.sql.sources.commitProtocolClass}: every DataFrame and SQL
 * write of Spark, whatever its format. Every call goes to the Commitbridge daemon that
 * {@link io.commitbridge.ConfKeys#ENDPOINTS} names.
 *
 * <p>What Spark's own protocol does by renames, and deletes before the first task, happens here in
 * the one commit: overwriting a table, partitions of it (static or dynamic), or the job's own
 * input, and writing partitions that have a location of their own. Old data goes only after the new
 * is published; a job that fails leaves it as it was. Exactly the task attempts that Spark counts
 * are published. Executors need neither credentials nor the FileSystem class of the store.
 *
 * <p>Destinations whose scheme isn't in {@link io.commitbridge.ConfKeys#SCHEMES} go to Spark's own
 * protocol, so that the class can be set for a whole cluster.
 *
 * <p>One class for Scala 2.12 and 2.13 and for Spark 3.5 and 4: methods whose signature differs
 * between them are there in each form.
 */
public class BridgeCommitProtocol extends FileCommitProtocol implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(BridgeCommitProtocol.class);
  private static final String SPARKS_PROTOCOL =
      "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol";

  private final String jobId;
  private final String path;
  private final boolean dynamicPartitionOverwrite;
  /** Knows how files are called in this version of Spark. */
  private final FileNames names;

  /** Spark's own protocol where the destination isn't bridged. */
  private FileCommitProtocol sparks;
  private boolean chosen;
  /** Tells the tasks what the job was set up under. */
  private String token;

  /** What the commit replaces; collected on the driver, before setupJob. */
  private transient List<Path> replaced;
  private transient ProtocolCalls calls;

  /**
   * Makes the protocol of one write. Nothing is sent.
   *
   * @param jobId Spark's id of the write, which is in the names of its files
   * @param path the destination
   * @param dynamicPartitionOverwrite whether the commit replaces the partitions that are written
   */
  public BridgeCommitProtocol(String jobId, String path, boolean dynamicPartitionOverwrite) {
    this.jobId = jobId;
    this.path = path;
    this.dynamicPartitionOverwrite = dynamicPartitionOverwrite;
    names = new FileNames(jobId, path);
  }

  /**
   * Makes the protocol of a write that replaces no partitions. Nothing is sent.
   *
   * @param jobId Spark's id of the write, which is in the names of its files
   * @param path the destination
   */
  public BridgeCommitProtocol(String jobId, String path) {
    this(jobId, path, false);
  }

  /**
   * Puts a deletion off until the commit.
   *
   * @return true: Spark need not delete anything itself
   */
  @Override
  public boolean deleteWithJob(FileSystem fs, Path target, boolean recursive) {
    FileCommitProtocol own = sparks(fs.getConf());
    if (own != null) {
      return own.deleteWithJob(fs, target, recursive);
    }
    if (token != null) {
      throw unchecked(new CommitbridgeException("INVALID_FIELD",
          "What a job overwrites must be known before it is set up: " + target));
    }
    if (replaced == null) {
      replaced = new ArrayList<>();
    }
    replaced.add(target);
    return true;
  }

  @Override
  public void setupJob(JobContext context) {
    FileCommitProtocol own = sparks(context.getConfiguration());
    if (own != null) {
      own.setupJob(context);
      return;
    }
    setIds(context.getConfiguration());
    calls = ProtocolCalls.ofDriver(jobId, path, dynamicPartitionOverwrite,
        replaced == null ? new ArrayList<>() : replaced, context);
    try {
      token = calls.setupJob(context);
    } catch (IOException e) {
      throw unchecked(e);
    }
  }

  /** As Spark's own protocol: some formats read them on the driver. */
  private static void setIds(Configuration conf) {
    String tracker = new SimpleDateFormat("yyyyMMddHHmmss", Locale.US).format(new Date())
        + ThreadLocalRandom.current().nextLong(Long.MAX_VALUE);
    TaskAttemptID attempt =
        new TaskAttemptID(new TaskID(new JobID(tracker, 0), TaskType.MAP, 0), 0);
    conf.set(MRJobConfig.ID, attempt.getJobID().toString());
    conf.set(MRJobConfig.TASK_ID, attempt.getTaskID().toString());
    conf.set(MRJobConfig.TASK_ATTEMPT_ID, attempt.toString());
    conf.setBoolean(MRJobConfig.TASK_ISMAP, true);
    conf.setInt(MRJobConfig.TASK_PARTITION, 0);
  }

  /**
   * Publishes the attempts that the messages name; the form of Scala 2.12.
   *
   * @param context the job's
   * @param commits what commitTask returned for each task
   */
  @Override
  public void commitJob(JobContext context, scala.collection.Seq<TaskCommitMessage> commits) {
    commitJob(context, scala.collection.Seq.class, commits, commits.iterator());
  }

  /**
   * Publishes the attempts that the messages name; the form of Scala 2.13.
   *
   * @param context the job's
   * @param commits what commitTask returned for each task
   */
  public void commitJob(
      JobContext context, scala.collection.immutable.Seq<TaskCommitMessage> commits) {
    commitJob(context, scala.collection.immutable.Seq.class, commits, commits.iterator());
  }

  private void commitJob(JobContext context, Class<?> form, Object commits,
      Iterator<TaskCommitMessage> messages) {
    try {
      FileCommitProtocol own = sparks(context.getConfiguration());
      if (own != null) {
        FileCommitProtocol.class.getMethod("commitJob", JobContext.class, form)
            .invoke(own, context, commits);
        return;
      }
      List<byte[]> attempts = new ArrayList<>();
      while (messages.hasNext()) {
        attempts.add((byte[]) messages.next().obj());
      }
      driver(context).commitJob(context, attempts);
    } catch (InvocationTargetException e) {
      throw unchecked(e.getCause());
    } catch (IOException | ReflectiveOperationException e) {
      throw unchecked(e);
    }
  }

  @Override
  public void abortJob(JobContext context) {
    FileCommitProtocol own = sparks(context.getConfiguration());
    if (own != null) {
      own.abortJob(context);
      return;
    }
    try {
      driver(context).abortJob(context);
    } catch (IOException e) {
      // As Spark's own: what made the job fail is what people must see.
      LOG.warn("The job could not be aborted, so its uploads stay until `commitbridge jobs abort"
          + " {}` or gc: destination={} error={}", token, path, e.getMessage());
    }
  }

  @Override
  public void setupTask(TaskAttemptContext context) {
    FileCommitProtocol own = sparks(context.getConfiguration());
    if (own != null) {
      own.setupTask(context);
      return;
    }
    calls = ProtocolCalls.ofTask(jobId, token, path, context);
    try {
      calls.setupTask(context);
    } catch (IOException e) {
      throw unchecked(e);
    }
  }

  /**
   * Says where the attempt writes a file; the form that Spark 3.5 and 4.0 call.
   *
   * @param context the attempt's
   * @param dir the partition below the destination
   * @param ext the end of the file's name
   * @return a path of {@link io.commitbridge.BridgeFileSystem}
   */
  @Override
  public String newTaskTempFile(TaskAttemptContext context, Option<String> dir, String ext) {
    FileCommitProtocol own = sparks(context.getConfiguration());
    return own != null ? own.newTaskTempFile(context, dir, ext)
        : newFile(context, dir, new FileNameSpec("", ext));
  }

  /**
   * Says where the attempt writes a file; the form that Spark calls since 4.1.
   *
   * @param context the attempt's
   * @param dir the partition below the destination
   * @param spec begin and end of the file's name
   * @return a path of {@link io.commitbridge.BridgeFileSystem}
   */
  @Override
  public String newTaskTempFile(
      TaskAttemptContext context, Option<String> dir, FileNameSpec spec) {
    FileCommitProtocol own = sparks(context.getConfiguration());
    return own != null ? own.newTaskTempFile(context, dir, spec) : newFile(context, dir, spec);
  }

  private String newFile(TaskAttemptContext context, Option<String> dir, FileNameSpec spec) {
    try {
      return task(context).newFile(
          context, dir.isEmpty() ? null : dir.get(), names.of(context, spec));
    } catch (IOException e) {
      throw unchecked(e);
    }
  }

  /**
   * Says where the attempt writes a file of a partition that has a location of its own; the form
   * that Spark 3.5 and 4.0 call.
   *
   * @param context the attempt's
   * @param absoluteDir the partition's location
   * @param ext the end of the file's name
   * @return a path of {@link io.commitbridge.BridgeFileSystem}
   */
  @Override
  public String newTaskTempFileAbsPath(
      TaskAttemptContext context, String absoluteDir, String ext) {
    FileCommitProtocol own = sparks(context.getConfiguration());
    return own != null ? own.newTaskTempFileAbsPath(context, absoluteDir, ext)
        : newFileAt(context, absoluteDir, new FileNameSpec("", ext));
  }

  /**
   * Says where the attempt writes a file of a partition that has a location of its own; the form
   * that Spark calls since 4.1.
   *
   * @param context the attempt's
   * @param absoluteDir the partition's location
   * @param spec begin and end of the file's name
   * @return a path of {@link io.commitbridge.BridgeFileSystem}
   */
  @Override
  public String newTaskTempFileAbsPath(
      TaskAttemptContext context, String absoluteDir, FileNameSpec spec) {
    FileCommitProtocol own = sparks(context.getConfiguration());
    return own != null ? own.newTaskTempFileAbsPath(context, absoluteDir, spec)
        : newFileAt(context, absoluteDir, spec);
  }

  private String newFileAt(TaskAttemptContext context, String absoluteDir, FileNameSpec spec) {
    try {
      return task(context).newFileAt(context, absoluteDir, names.of(context, spec));
    } catch (IOException e) {
      throw unchecked(e);
    }
  }

  /**
   * Commits the attempt if the driver's OutputCommitCoordinator lets it, as Spark's own protocol
   * does.
   *
   * @return the attempt, for commitJob
   */
  @Override
  public TaskCommitMessage commitTask(TaskAttemptContext context) {
    FileCommitProtocol own = sparks(context.getConfiguration());
    if (own != null) {
      return own.commitTask(context);
    }
    ProtocolCalls task = task(context);
    TaskAttemptID id = context.getTaskAttemptID();
    SparkHadoopMapRedUtil.commitTask(
        task.asOutputCommitter(), context, id.getJobID().getId(), id.getTaskID().getId());
    return new TaskCommitMessage(task.attempt(context));
  }

  @Override
  public void abortTask(TaskAttemptContext context) {
    FileCommitProtocol own = sparks(context.getConfiguration());
    if (own != null) {
      own.abortTask(context);
      return;
    }
    try {
      task(context).abortTask(context);
    } catch (IOException e) {
      // As Spark's own: what made the task fail is what people must see. The job's end aborts it.
      LOG.warn("The task attempt could not be aborted, the end of the job does it: attempt={}"
          + " error={}", context.getTaskAttemptID(), e.getMessage());
    }
  }

  @Override
  public void onTaskCommit(TaskCommitMessage message) {
    if (sparks != null) {
      sparks.onTaskCommit(message);
    }
  }

  /** Spark's own protocol, or null where the daemon looks after the destination. */
  private FileCommitProtocol sparks(Configuration conf) {
    if (!chosen) {
      if (!Destination.isBridged(path, conf)) {
        try {
          // It's in spark-sql, which RDD writes do without.
          sparks = (FileCommitProtocol) Class.forName(SPARKS_PROTOCOL)
              .getConstructor(String.class, String.class, boolean.class)
              .newInstance(jobId, path, dynamicPartitionOverwrite);
        } catch (ReflectiveOperationException e) {
          throw new IllegalStateException("Spark's own commit protocol, which the destination "
              + path + " goes to, can't be made", e);
        }
      }
      chosen = true;
    }
    return sparks;
  }

  private ProtocolCalls driver(JobContext context) {
    if (calls == null) {
      calls = ProtocolCalls.ofDriver(
          jobId, path, dynamicPartitionOverwrite, new ArrayList<>(), context);
    }
    return calls;
  }

  private ProtocolCalls task(TaskAttemptContext context) {
    if (calls == null) {
      calls = ProtocolCalls.ofTask(jobId, token, path, context);
    }
    return calls;
  }

  @Override
  public String toString() {
    return "BridgeCommitProtocol{" + path + "}";
  }

  /** Names of files, which Spark 4 makes a little differently than 3.5: it's asked. */
  private static final class FileNames extends HadoopMapReduceCommitProtocol {
    private static final long serialVersionUID = 1L;

    FileNames(String jobId, String path) {
      super(jobId, path, false);
    }

    String of(TaskAttemptContext context, FileNameSpec spec) {
      return getFilename(context, spec);
    }
  }

  /** Scala declares no exceptions, and Spark handles IOExceptions. */
  static RuntimeException unchecked(Throwable error) {
    return BridgeCommitProtocol.<RuntimeException>raise(error);
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> RuntimeException raise(Throwable error) throws E {
    throw (E) error;
  }
}
