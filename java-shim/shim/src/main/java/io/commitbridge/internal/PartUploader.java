package io.commitbridge.internal;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import io.commitbridge.proto.v1.SignedPart;
import io.commitbridge.proto.v1.UploadedPart;
import java.io.IOException;
import java.io.InterruptedIOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends a part from its buffer until the store has it, or until that makes no sense any more. */
final class PartUploader {
  private static final Logger LOG = LoggerFactory.getLogger(PartUploader.class);
  private static final int MAX_REFUSED = 3;

  private final Settings settings;
  private final UploadSession session;
  private final PartPut put;
  private final Progress progress;

  PartUploader(Settings settings, UploadSession session, Progress progress) {
    this.settings = settings;
    this.session = session;
    this.put = new PartPut(settings);
    this.progress = progress;
  }

  /** Breaks off what is under way; nothing is sent any more. */
  void stop() {
    put.stop();
  }

  UploadedPart upload(int number, PartBuffer buffer, long from, long count) throws IOException {
    SignedPart signed = session.part(number);
    long firstFailure = -1;
    int failures = 0;
    int refused = 0;
    while (true) {
      PartPut.Answer answer = put.send(signed, buffer, from, count);
      if (answer.isStored()) {
        session.done(number);
        if (answer.etag == null) {
          throw failed(number, "the store's answer has no ETag header", "");
        }
        return UploadedPart.newBuilder().setPartNumber(number).setEtag(answer.etag)
            .setSizeBytes(count).build();
      }
      if (Thread.currentThread().isInterrupted()) {
        throw new InterruptedIOException("Uploading " + session.uri() + " was interrupted");
      }
      long now = Retry.nowMs();
      firstFailure = firstFailure < 0 ? now : firstFailure;
      failures++;
      LOG.debug("A part was not stored: uri={} part={} failures={} answer={}", session.uri(),
          number, failures, answer.text);
      if (answer.status == 403 && refused < MAX_REFUSED) {
        refused++;
        pause(refused == 1 ? 0 : Retry.delayMs(refused));
        signed = session.signAgain(number, signed);
        continue;
      }
      if (!answer.mayRepeat()) {
        throw failed(number, answer.text, answer.advice());
      }
      long left = firstFailure + settings.uploadRetryTimeoutMs - now;
      if (left <= 0) {
        throw failed(number, answer.text + "; tried " + failures + " times in "
            + (now - firstFailure) / 1000 + " s", ". Raise " + ConfKeys.UPLOAD_RETRY_TIMEOUT
            + " if the store is only slow to come back, or check that this host reaches it");
      }
      pause(Math.min(left, Retry.delayMs(failures)));
      // A store that refuses early cuts the connection, and its 403 is lost: sign anew after that.
      signed = answer.status < 0 && failures > 1
          ? session.signAgain(number, signed) : session.part(number);
    }
  }

  private CommitbridgeException failed(int number, String what, String advice) {
    return new CommitbridgeException(CommitbridgeException.UPLOAD_FAILED,
        "Part " + number + " of " + session.uri() + " could not be stored: " + what + advice);
  }

  private void pause(long ms) throws IOException {
    progress.tick();
    Retry.sleep(ms, "Uploading " + session.uri());
  }
}
