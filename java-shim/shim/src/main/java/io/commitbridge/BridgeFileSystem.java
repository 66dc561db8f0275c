package io.commitbridge;

import io.commitbridge.internal.AttemptWriter;
import io.commitbridge.internal.WorkPath;
import io.commitbridge.internal.WriteStatistics;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.EnumSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * What is below a task attempt's work path ({@code commitbridge://…}). A file that is created here
 * becomes an upload to its final key, which nobody sees before the job's commit; the committer of
 * the same attempt and JVM hands it to the daemon in commitTask.
 *
 * <p>It's for writing: files can be created, overwritten, deleted and looked at, not read, appended
 * to or renamed (UnsupportedOperationException). A file has the length that was written so far.
 * Directories are implied by the files below them.
 */
public class BridgeFileSystem extends FileSystem {
  private static final String WRITE_ONLY =
      "Files under a Commitbridge work path are uploads that are not complete yet: they can't be ";

  private URI uri;
  private Path workingDirectory;
  private AttemptWriter writer;

  /** Makes it; Hadoop does, by reflection, and calls initialize. */
  public BridgeFileSystem() {}

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setConf(conf);
    WorkPath.requireOwnLoader(name.getAuthority());
    uri = URI.create(WorkPath.SCHEME + "://" + name.getAuthority());
    workingDirectory = new Path(uri + "/");
    writer = new AttemptWriter(conf);
  }

  @Override
  public String getScheme() {
    return WorkPath.SCHEME;
  }

  @Override
  public URI getUri() {
    return uri;
  }

  /** None: there are no delegation tokens, and the authority is no host that could be resolved. */
  @Override
  public String getCanonicalServiceName() {
    return null;
  }

  /**
   * Starts a file. Nothing is sent before a part of it is full, or it's closed.
   *
   * @param path below a work path
   * @param permission not used: the object gets the store's default
   * @param overwrite whether a file of the attempt at this path gives way
   * @param bufferSize not used
   * @param replication not used
   * @param blockSize not used
   * @param progress is told every few seconds while the stream waits; may be null
   * @return a stream whose close fails where not all bytes are at the store
   * @throws org.apache.hadoop.fs.FileAlreadyExistsException where a file or directory is there
   * @throws IOException where the attempt has ended, or the path is no work path
   */
  @Override
  public FSDataOutputStream create(Path path, FsPermission permission, boolean overwrite,
      int bufferSize, short replication, long blockSize, Progressable progress)
      throws IOException {
    statistics.incrementWriteOps(1);
    Path absolute = absolute(path);
    // The stream counts the bytes, on the task's own thread, where engines look for them.
    return new FSDataOutputStream(
        writer.create(absolute, overwrite, progress), WriteStatistics.of(absolute, statistics));
  }

  @Override
  public FSDataOutputStream createNonRecursive(Path path, FsPermission permission,
      EnumSet<CreateFlag> flags, int bufferSize, short replication, long blockSize,
      Progressable progress) throws IOException {
    // Every directory exists as soon as it's named.
    return create(path, permission, flags.contains(CreateFlag.OVERWRITE), bufferSize, replication,
        blockSize, progress);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    statistics.incrementWriteOps(1);
    return writer.delete(absolute(path), recursive);
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    return true;
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    statistics.incrementReadOps(1);
    return writer.status(absolute(path));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws FileNotFoundException, IOException {
    statistics.incrementReadOps(1);
    return writer.list(absolute(path));
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) {
    throw new UnsupportedOperationException(WRITE_ONLY + "read: " + path);
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress) {
    throw new UnsupportedOperationException(WRITE_ONLY + "appended to: " + path);
  }

  @Override
  public boolean rename(Path source, Path target) {
    throw new UnsupportedOperationException(WRITE_ONLY + "renamed: " + source + " to " + target);
  }

  @Override
  public void setWorkingDirectory(Path path) {
    workingDirectory = absolute(path);
  }

  @Override
  public Path getWorkingDirectory() {
    return workingDirectory;
  }

  private Path absolute(Path path) {
    Path qualified = path.makeQualified(uri, workingDirectory);
    checkPath(qualified);
    return qualified;
  }
}
