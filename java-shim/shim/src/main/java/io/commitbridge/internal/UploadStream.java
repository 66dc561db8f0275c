package io.commitbridge.internal;

import com.google.protobuf.ByteString;
import io.commitbridge.CommitbridgeException;
import io.commitbridge.proto.v1.UploadedPart;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * What a task writes into. Full parts are sent by threads of the stream's own while the task goes
 * on; the writer waits where all of them are busy, or where as much as they may hold is under way.
 * A file of one part is opened and sent by the thread that closes it; one that is small enough isn't
 * sent at all, but travels with commitTask.
 *
 * <p>Closing makes nothing visible and says nothing about the task: only commitTask hands the file
 * over.
 */
final class UploadStream extends OutputStream {
  /** Until the daemon says what size parts have. */
  static final long ASSUMED_PART_BYTES = 8 * 1024 * 1024;
  /** What a permit is for; a part that is larger takes several. */
  static final long BYTES_PER_PERMIT = 16 * 1024 * 1024;
  private static final long POLL_MS = 200;

  private final OutputFile file;
  private final UploadSession session;
  private final InlineBudget inline;
  private final PartUploader uploader;
  private final Progress progress;
  private final int parallelism;
  private final Semaphore permits;
  private final List<UploadedPart> parts = Collections.synchronizedList(new ArrayList<>());
  private PartBuffer current = new PartBuffer();
  private long target = ASSUMED_PART_BYTES;
  private int nextPart = 1;
  private long total;
  private boolean closed;
  private ThreadPoolExecutor threads;
  private volatile IOException failure;
  private volatile boolean stopped;

  UploadStream(
      OutputFile file, UploadSession session, InlineBudget inline, Settings settings,
      Progress progress) {
    this.file = file;
    this.session = session;
    this.inline = inline;
    this.uploader = new PartUploader(settings, session, progress);
    this.progress = progress;
    this.parallelism = settings.uploadParallelism;
    this.permits = new Semaphore(parallelism);
  }

  @Override
  public void write(int value) throws IOException {
    requireWritable();
    current.write(value);
    total++;
    file.grew(total);
    if (current.length() >= target) {
      sendFullParts();
    }
  }

  @Override
  public void write(byte[] bytes, int offset, int count) throws IOException {
    int from = offset;
    int left = count;
    do {
      requireWritable();
      int taken = (int) Math.min(left, target - current.length());
      current.write(bytes, from, taken);
      from += taken;
      left -= taken;
      total += taken;
      file.grew(total);
      if (current.length() >= target) {
        sendFullParts();
      }
    } while (left > 0);
  }

  /** Does nothing: a part can't be sent before it's full. */
  @Override
  public void flush() {}

  @Override
  public void close() throws IOException {
    if (closed) {
      if (failure != null) {
        throw again(failure);
      }
      return;
    }
    closed = true;
    try {
      requireNotFailed();
      if (!session.isOpen() && inline.take(total)) {
        closeInline();
      } else {
        sendRest();
        waitForThreads();
        parts.sort(Comparator.comparingInt(UploadedPart::getPartNumber));
        file.closed(parts);
      }
    } catch (IOException | RuntimeException e) {
      IOException why = e instanceof IOException ? (IOException) e : new IOException(e);
      fail(why);
      file.failed(failure);
      throw again(failure);
    } finally {
      current = null;
      if (threads != null) {
        threads.shutdownNow();
      }
    }
  }

  /** The file was given up: nothing more is sent, and the writer finds out with its next call. */
  void stop() {
    stopped = true;
    uploader.stop();
  }

  private void closeInline() throws IOException {
    ByteString.Output content = ByteString.newOutput((int) total);
    current.writeTo(content, 0, total);
    file.closedInline(content.toByteString());
  }

  private void sendFullParts() throws IOException {
    if (!session.isOpen()) {
      session.open(UploadSession.SIGN_AHEAD);
    }
    long from = 0;
    while (from < current.length()) {
      target = session.sizeOf(nextPart);
      if (current.length() - from < target) {
        break;
      }
      sendInBackground(nextPart++, current, from, target);
      from += target;
    }
    if (from > 0) {
      current = current.tail(from);
    }
  }

  private void sendRest() throws IOException {
    if (!session.isOpen()) {
      session.open(1);
    }
    long from = 0;
    long left = current.length();
    while (left > 0 && left > session.sizeOf(nextPart)) {
      long size = session.sizeOf(nextPart);
      sendInBackground(nextPart++, current, from, size);
      from += size;
      left -= size;
    }
    if (left > 0 || nextPart == 1) {
      int held = acquire(permitsFor(left));
      try {
        parts.add(uploader.upload(nextPart++, current, from, left));
      } finally {
        permits.release(held);
      }
    }
  }

  private void sendInBackground(int number, PartBuffer buffer, long from, long count)
      throws IOException {
    int held = acquire(permitsFor(count));
    if (threads == null) {
      threads = new ThreadPoolExecutor(0, parallelism, 10, TimeUnit.SECONDS,
          new SynchronousQueue<>(), task -> {
            Thread thread = new Thread(task, "commitbridge-upload");
            thread.setDaemon(true);
            return thread;
          }, (task, pool) -> spill(task));
    }
    threads.execute(() -> {
      try {
        parts.add(uploader.upload(number, buffer, from, count));
      } catch (IOException e) {
        fail(e);
      } catch (RuntimeException | Error e) {
        fail(new IOException("Uploading " + file.uri + " failed: " + e, e));
      } finally {
        permits.release(held);
      }
    });
  }

  private int permitsFor(long bytes) {
    long permitted = (bytes + BYTES_PER_PERMIT - 1) / BYTES_PER_PERMIT;
    return (int) Math.max(1, Math.min(parallelism, permitted));
  }

  /** A thread gives its permit back a moment before it's free: then the writer sends the part. */
  private static void spill(Runnable task) {
    task.run();
  }

  private void waitForThreads() throws IOException {
    if (threads != null) {
      acquire(parallelism);
    }
    requireNotFailed();
  }

  private int acquire(int count) throws IOException {
    try {
      while (!permits.tryAcquire(count, POLL_MS, TimeUnit.MILLISECONDS)) {
        requireNotFailed();
        progress.tick();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("Writing " + file.uri + " was interrupted");
    }
    requireNotFailed();
    return count;
  }

  private void requireWritable() throws IOException {
    if (closed) {
      throw new IOException("The stream is closed: " + file.uri);
    }
    requireNotFailed();
  }

  private void requireNotFailed() throws IOException {
    if (failure != null) {
      throw again(failure);
    }
    if (stopped) {
      file.requireNotAbandoned();
      throw new IOException("Writing was stopped: " + file.uri);
    }
  }

  private void fail(IOException why) {
    synchronized (parts) {
      if (failure == null) {
        failure = why;
      }
    }
    // The file can't be whole any more: the other parts are traffic for nothing.
    uploader.stop();
  }

  /** An exception of its own for each call, since callers add suppressed ones to what they catch. */
  private static IOException again(IOException first) {
    if (first instanceof InterruptedIOException) {
      return first;
    }
    if (first instanceof CommitbridgeException) {
      return new CommitbridgeException(
          ((CommitbridgeException) first).getReason(), first.getMessage(), first);
    }
    return new IOException(first.getMessage(), first);
  }
}
