package io.commitbridge;

/**
 * Every key that the shim reads from Hadoop's configuration. In Spark each is set with the prefix
 * {@code spark.hadoop.}.
 *
 * <p>Durations are Hadoop's: a number with a unit ({@code 500ms}, {@code 5s}, {@code 2m},
 * {@code 1h}); without one it means milliseconds.
 */
public final class ConfKeys {

  /**
   * Where daemons listen: {@code host:port} or {@code unix:///path/of/socket}, several separated by
   * commas. Any of them may answer any call; the next one is asked where one can't be reached.
   * Required.
   */
  public static final String ENDPOINTS = "commitbridge.endpoints";

  /**
   * Schemes of destinations that go to the daemon, separated by commas; other destinations go to
   * Hadoop's own FileOutputCommitter. Default {@value #SCHEMES_DEFAULT}.
   */
  public static final String SCHEMES = "commitbridge.schemes";

  /** Default of {@link #SCHEMES}. */
  public static final String SCHEMES_DEFAULT = "s3,s3a,s3n,oss";

  /**
   * File that holds the bearer token sent with every call; read again when it changes. Default: no
   * token is sent.
   */
  public static final String AUTH_TOKEN_FILE = "commitbridge.auth.token-file";

  /** Whether calls go over TLS: {@code true} or {@code false}. Default false. */
  public static final String TLS_ENABLED = "commitbridge.tls.enabled";

  /** PEM file of the authorities that the daemon's certificate may come from. Default: Java's. */
  public static final String TLS_CA_FILE = "commitbridge.tls.ca-file";

  /** PEM file of the client's certificate chain, for mTLS. Needs {@link #TLS_KEY_FILE}. */
  public static final String TLS_CERT_FILE = "commitbridge.tls.cert-file";

  /** PEM file (PKCS#8) of the client's key, for mTLS. Needs {@link #TLS_CERT_FILE}. */
  public static final String TLS_KEY_FILE = "commitbridge.tls.key-file";

  /**
   * How bytes reach the store: {@code auto}, {@code direct}, {@code stream} or {@code local}. This
   * version has {@code direct} only, which {@code auto} chooses. Default auto.
   */
  public static final String DATA_PLANE = "commitbridge.data-plane";

  /**
   * What a commit does with objects that are at the destination already: {@code append},
   * {@code fail} or {@code replace}. Default append.
   */
  public static final String CONFLICT_MODE = "commitbridge.conflict-mode";

  /**
   * Token of the job, {@code [A-Za-z0-9][A-Za-z0-9._-]{0,199}}, used once. Default: taken from what
   * the engine knows, see the documentation of the bindings.
   */
  public static final String JOB_TOKEN = "commitbridge.job.token";

  /**
   * How long setupJob waits for a daemon's first answer before the job fails. Default
   * {@value #CONNECT_TIMEOUT_DEFAULT}.
   */
  public static final String CONNECT_TIMEOUT = "commitbridge.connect-timeout";

  /** Default of {@link #CONNECT_TIMEOUT}. */
  public static final String CONNECT_TIMEOUT_DEFAULT = "5s";

  /**
   * How long one try of a call may take, except commitJob's and abortJob's. Default
   * {@value #RPC_TIMEOUT_DEFAULT}.
   */
  public static final String RPC_TIMEOUT = "commitbridge.rpc.timeout";

  /** Default of {@link #RPC_TIMEOUT}. */
  public static final String RPC_TIMEOUT_DEFAULT = "60s";

  /**
   * How long a call is repeated while no daemon can be reached or the store is unavailable. Default
   * {@value #RPC_RETRY_TIMEOUT_DEFAULT}.
   */
  public static final String RPC_RETRY_TIMEOUT = "commitbridge.rpc.retry-timeout";

  /** Default of {@link #RPC_RETRY_TIMEOUT}. */
  public static final String RPC_RETRY_TIMEOUT_DEFAULT = "120s";

  /**
   * How long commitJob, and abortJob, may take with all their tries. Default
   * {@value #COMMIT_JOB_TIMEOUT_DEFAULT}.
   */
  public static final String COMMIT_JOB_TIMEOUT = "commitbridge.commit-job.timeout";

  /** Default of {@link #COMMIT_JOB_TIMEOUT}. */
  public static final String COMMIT_JOB_TIMEOUT_DEFAULT = "1h";

  /**
   * Files up to so many bytes travel with commitTask instead of being uploaded, which saves two of
   * three requests: 1 MiB of them a task attempt, the rest is uploaded. 0 turns it off. The daemon's
   * own {@code upload.inlineLimit} counts where it's lower. Sizes as Hadoop's, {@code 16k}. Default
   * {@value #INLINE_LIMIT_DEFAULT}.
   */
  public static final String INLINE_LIMIT = "commitbridge.inline-limit";

  /** Default of {@link #INLINE_LIMIT}: 16 KiB. */
  public static final long INLINE_LIMIT_DEFAULT = 16 * 1024;

  /**
   * Who keeps the record of a committed task until commitJob. {@code client}: commitTask writes it to
   * the store, durably. {@code driver}: Spark carries it to the driver and commitJob brings all of
   * them, which saves three requests a task; a driver that dies before commitJob loses them, and the
   * job can then only be aborted. Only with {@link io.commitbridge.spark.BridgeCommitProtocol}; any
   * other write, as those of RDDs and of MapReduce, takes it for {@code client}. Default
   * {@value #TASK_RECORDS_DEFAULT}.
   */
  public static final String TASK_RECORDS = "commitbridge.task-records";

  /** Default of {@link #TASK_RECORDS}. */
  public static final String TASK_RECORDS_DEFAULT = "client";

  /**
   * Parts that one open file uploads at once, from 1 on. A part of more than 16 MiB counts as several,
   * so that a file holds 16 MiB times this in memory at most, or one part where that is larger, and
   * the part that is being filled. Parts grow to eight times the daemon's {@code upload.partSize}.
   * Default {@value #UPLOAD_PARALLELISM_DEFAULT}.
   */
  public static final String UPLOAD_PARALLELISM = "commitbridge.upload.parallelism";

  /** Default of {@link #UPLOAD_PARALLELISM}. */
  public static final int UPLOAD_PARALLELISM_DEFAULT = 4;

  /**
   * How long a part is sent again after its first failure. Default
   * {@value #UPLOAD_RETRY_TIMEOUT_DEFAULT}.
   */
  public static final String UPLOAD_RETRY_TIMEOUT = "commitbridge.upload.retry-timeout";

  /** Default of {@link #UPLOAD_RETRY_TIMEOUT}. */
  public static final String UPLOAD_RETRY_TIMEOUT_DEFAULT = "120s";

  /**
   * How long a connection to the store may take to open. Default
   * {@value #UPLOAD_CONNECT_TIMEOUT_DEFAULT}.
   */
  public static final String UPLOAD_CONNECT_TIMEOUT = "commitbridge.upload.connect-timeout";

  /** Default of {@link #UPLOAD_CONNECT_TIMEOUT}. */
  public static final String UPLOAD_CONNECT_TIMEOUT_DEFAULT = "10s";

  /**
   * How long the store may take to answer a part that was sent. Default
   * {@value #UPLOAD_READ_TIMEOUT_DEFAULT}.
   */
  public static final String UPLOAD_READ_TIMEOUT = "commitbridge.upload.read-timeout";

  /** Default of {@link #UPLOAD_READ_TIMEOUT}. */
  public static final String UPLOAD_READ_TIMEOUT_DEFAULT = "60s";

  /**
   * What happens to a DataFrame or SQL write of Spark to a destination of {@link #SCHEMES} that
   * would not reach Commitbridge although {@link #ENDPOINTS} is set: {@code fail} or {@code warn}
   * (at the start of the session only). Default fail.
   */
  public static final String SPARK_CHECK = "commitbridge.spark.check";

  /**
   * Set by the shim, never by people: the token that setupJob made where nothing else names the
   * job. It ranks last, so that a configuration used again doesn't carry a dead token into the next
   * write.
   */
  public static final String INTERNAL_JOB_TOKEN = "commitbridge.internal.job.token";

  private ConfKeys() {}
}
