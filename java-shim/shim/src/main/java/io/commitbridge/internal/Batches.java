package io.commitbridge.internal;

import com.google.protobuf.MessageLite;
import java.util.ArrayList;
import java.util.List;

/** Cuts a list of messages into pieces that fit one message to the daemon. */
final class Batches {
  /** Half of what the protocol takes as a batch, so that no server's limit is near. */
  static final int MAX_BYTES = 512 * 1024;

  private Batches() {}

  /** At least one batch, which is empty where there is nothing. */
  static <T extends MessageLite> List<List<T>> of(List<T> messages) {
    List<List<T>> batches = new ArrayList<>();
    List<T> batch = new ArrayList<>();
    batches.add(batch);
    long bytes = 0;
    for (T message : messages) {
      int size = message.getSerializedSize() + 8;
      if (!batch.isEmpty() && bytes + size > MAX_BYTES) {
        batch = new ArrayList<>();
        batches.add(batch);
        bytes = 0;
      }
      batch.add(message);
      bytes += size;
    }
    return batches;
  }
}
