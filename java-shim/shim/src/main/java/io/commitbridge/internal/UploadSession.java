package io.commitbridge.internal;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.proto.v1.JobRef;
import io.commitbridge.proto.v1.OpenFileRequest;
import io.commitbridge.proto.v1.OpenFileResponse;
import io.commitbridge.proto.v1.PendingFile;
import io.commitbridge.proto.v1.SignPartsRequest;
import io.commitbridge.proto.v1.SignedPart;
import io.commitbridge.proto.v1.TaskAttemptRef;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the daemon knows of one file: its upload, and URLs that its parts may be sent to. */
final class UploadSession {
  private static final Logger LOG = LoggerFactory.getLogger(UploadSession.class);
  static final int SIGN_AHEAD = 8;
  private static final int USUAL_MAX_PARTS = 10_000;
  /** A URL that is about to expire isn't worth a try. */
  private static final long EXPIRY_MARGIN_MS = 10_000;

  private final DaemonClient client;
  private final JobRef job;
  private final TaskAttemptRef attempt;
  private final OutputFile file;
  private final Map<Integer, SignedPart> signed = new HashMap<>();
  private PendingFile pending;

  UploadSession(DaemonClient client, JobRef job, TaskAttemptRef attempt, OutputFile file) {
    this.client = client;
    this.job = job;
    this.attempt = attempt;
    this.file = file;
  }

  String uri() {
    return file.uri;
  }

  synchronized boolean isOpen() {
    return pending != null;
  }

  synchronized void open(int partsToSign) throws IOException {
    OpenFileResponse opened = client.openFile(OpenFileRequest.newBuilder().setJob(job)
        .setAttempt(attempt).setUri(file.uri).setPartsToSign(partsToSign).build());
    if (!file.opened(opened.getFile())) {
      abort(opened.getFile());
      file.requireNotAbandoned();
    }
    pending = opened.getFile();
    keep(opened.getSignedPartsList());
  }

  /** A URL for the part. */
  synchronized SignedPart part(int number) throws IOException {
    SignedPart known = signed.get(number);
    return known == null || isExpiring(known) ? sign(number) : known;
  }

  /** Another URL for a part whose URL the store refused. */
  synchronized SignedPart signAgain(int number, SignedPart refused) throws IOException {
    SignedPart known = signed.get(number);
    // Another thread may have signed a batch that holds this part.
    return known == null || known.equals(refused) ? sign(number) : known;
  }

  /** Bytes that the part must have, unless it's the last one. */
  synchronized long sizeOf(int number) throws IOException {
    SignedPart known = signed.get(number);
    long size = (known == null ? sign(number) : known).getSizeBytes();
    if (size <= 0) {
      throw new CommitbridgeException(CommitbridgeException.UPLOAD_FAILED,
          "The daemon gave part " + number + " of " + file.uri + " no size: daemon and jar must be"
              + " of one release");
    }
    return size;
  }

  synchronized void done(int number) {
    signed.remove(number);
  }

  private SignedPart sign(int number) throws IOException {
    int count = Math.max(1, Math.min(SIGN_AHEAD, USUAL_MAX_PARTS + 1 - number));
    keep(client.signParts(SignPartsRequest.newBuilder().setJob(job).setAttempt(attempt)
        .setFile(pending).setFirstPartNumber(number).setCount(count).build())
        .getSignedPartsList());
    SignedPart part = signed.get(number);
    if (part == null) {
      throw new CommitbridgeException(CommitbridgeException.UPLOAD_FAILED,
          "The daemon signed other parts of " + file.uri + " than part " + number);
    }
    return part;
  }

  private void keep(List<SignedPart> parts) {
    for (SignedPart part : parts) {
      signed.put(part.getPartNumber(), part);
    }
  }

  private static boolean isExpiring(SignedPart part) {
    long expiresMs = part.getExpireTime().getSeconds() * 1000;
    return part.hasExpireTime() && System.currentTimeMillis() > expiresMs - EXPIRY_MARGIN_MS;
  }

  private void abort(PendingFile upload) {
    try {
      client.abortFile(job, attempt, upload);
    } catch (IOException e) {
      LOG.warn("An upload of an ended task attempt could not be aborted, the daemon does it when"
          + " the job ends: uri={} error={}", file.uri, e.getMessage());
    }
  }
}
