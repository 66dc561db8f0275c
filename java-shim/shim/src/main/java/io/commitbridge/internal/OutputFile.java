package io.commitbridge.internal;

import com.google.protobuf.ByteString;
import io.commitbridge.proto.v1.ClosedFile;
import io.commitbridge.proto.v1.InlineFile;
import io.commitbridge.proto.v1.PendingFile;
import io.commitbridge.proto.v1.UploadedPart;
import java.io.IOException;
import java.util.List;

/** One file of an attempt: open, closed with all its bytes at the store or here, or failed. */
final class OutputFile {
  /** See {@link WorkPath.Location#key()}. */
  final String key;
  final String uri;
  private final long createdAt = System.currentTimeMillis();
  private UploadStream stream;
  private PendingFile pending;
  private ClosedFile closed;
  private volatile long length;
  private boolean abandoned;
  private IOException failure;

  OutputFile(String key, String uri) {
    this.key = key;
    this.uri = uri;
  }

  synchronized void writtenBy(UploadStream writer) {
    stream = writer;
  }

  /**
   * Keeps the upload, as soon as it's open.
   *
   * @return false where the attempt or the file was given up meanwhile: the caller aborts it
   */
  synchronized boolean opened(PendingFile upload) {
    pending = upload;
    return !abandoned;
  }

  void grew(long bytes) {
    length = bytes;
  }

  /** All parts are at the store. */
  synchronized void closed(List<UploadedPart> parts) throws IOException {
    requireNotAbandoned();
    closed = ClosedFile.newBuilder().setPending(pending).addAllParts(parts).build();
    stream = null;
  }

  /** All bytes are here, and travel with commitTask. */
  synchronized void closedInline(ByteString content) throws IOException {
    requireNotAbandoned();
    closed = ClosedFile.newBuilder()
        .setInline(InlineFile.newBuilder().setUri(uri).setContent(content)).build();
    stream = null;
  }

  /** What it takes of the attempt's {@link InlineBudget}. */
  synchronized long inlineBytes() {
    return closed == null ? 0 : closed.getInline().getContent().size();
  }

  synchronized void failed(IOException why) {
    failure = why;
    stream = null;
  }

  synchronized void requireNotAbandoned() throws IOException {
    if (abandoned) {
      throw new IOException("The file was deleted, overwritten, or its task attempt ended while it"
          + " was written: " + uri);
    }
  }

  long length() {
    return length;
  }

  long createdAt() {
    return createdAt;
  }

  synchronized ClosedFile toClosedFile() throws IOException {
    if (failure != null) {
      throw new IOException("The task can't be committed: writing " + uri + " failed: "
          + failure.getMessage(), failure);
    }
    if (closed == null) {
      throw new IOException("The task can't be committed: " + uri + " is still open");
    }
    return closed;
  }

  /** Stops the writer for good; returns the upload, or null where none was opened. */
  PendingFile abandon() {
    UploadStream writer;
    synchronized (this) {
      abandoned = true;
      writer = stream;
      stream = null;
    }
    // Outside the lock: the writer's threads report to this object.
    if (writer != null) {
      writer.stop();
    }
    synchronized (this) {
      return pending;
    }
  }
}
