package io.commitbridge.internal;

import io.commitbridge.internal.Failures.Failure;
import io.grpc.Channel;
import io.grpc.Status;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call with its deadline, its repetitions and the change to another endpoint. The only place
 * that repeats calls: gRPC's own retry is off.
 */
final class Rpc {
  private static final Logger LOG = LoggerFactory.getLogger(Rpc.class);
  private static final long POLL_MS = 500;
  /** A connection that broke after this long had a living daemon behind it. */
  private static final long ALIVE_MS = 5_000;

  private Rpc() {}

  /** Starts one try. */
  interface Call<T> {
    Future<T> start(Channel channel, long deadlineMs);
  }

  /** How long a call may go on. */
  static final class Limits {
    final long tryMs;
    final long windowMs;
    final long totalMs;

    /**
     * Makes limits.
     *
     * @param tryMs for one try
     * @param windowMs from the first failure in a row to the last try
     * @param totalMs for everything
     */
    Limits(long tryMs, long windowMs, long totalMs) {
      this.tryMs = tryMs;
      this.windowMs = windowMs;
      this.totalMs = totalMs;
    }
  }

  static <T> T call(Channels channels, String name, Limits limits, Progress progress, Call<T> call)
      throws IOException {
    long start = Retry.nowMs();
    long firstFailure = -1;
    int failures = 0;
    while (true) {
      int index = channels.current();
      long tryStart = Retry.nowMs();
      long deadlineMs = Math.max(1, Math.min(limits.tryMs, start + limits.totalMs - tryStart));
      Failure failure;
      try {
        return await(call.start(channels.channel(index), deadlineMs), name, progress);
      } catch (ExecutionException e) {
        failure = Failures.of(e.getCause());
      } catch (RuntimeException e) {
        failure = Failures.of(e);
      }
      long now = Retry.nowMs();
      boolean wasAlive = now - tryStart > ALIVE_MS && !failure.isConnectFailure()
          && failure.status.getCode() != Status.Code.DEADLINE_EXCEEDED;
      if (firstFailure < 0 || wasAlive) {
        firstFailure = now;
        failures = 0;
      }
      failures++;
      long giveUp = Math.min(firstFailure + limits.windowMs, start + limits.totalMs);
      String endpoints = channels.size() == 1 || !failure.reason.isEmpty()
          ? channels.endpoint(index) : channels.toString();
      if (!failure.mayRepeat() || now >= giveUp) {
        String tried = now - start < 1_000 ? "" : "; tried for " + (now - start) / 1000 + " s";
        throw Failures.toIoException(failure, name, endpoints, tried);
      }
      if (failure.isEndpointsFault()) {
        channels.failed(index);
      }
      LOG.debug("Call failed, will be repeated: call={} endpoint={} failures={} error={}", name,
          channels.endpoint(index), failures, failure.text());
      boolean allTried = failures % channels.size() == 0;
      long delayMs = !allTried && failure.isEndpointsFault() ? 0
          : Math.max(failure.retryDelayMs, Retry.delayMs(failures / channels.size()));
      pause(Math.min(delayMs, giveUp - now), name, progress);
    }
  }

  private static <T> T await(Future<T> future, String name, Progress progress)
      throws ExecutionException, IOException {
    while (true) {
      try {
        return future.get(POLL_MS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        progress.tick();
      } catch (CancellationException e) {
        throw new ExecutionException(Status.CANCELLED.asRuntimeException());
      } catch (InterruptedException e) {
        future.cancel(true);
        throw Retry.interrupted(name);
      }
    }
  }

  private static void pause(long ms, String name, Progress progress) throws IOException {
    long until = Retry.nowMs() + ms;
    for (long left = ms; left > 0; left = until - Retry.nowMs()) {
      Retry.sleep(Math.min(left, POLL_MS), name);
      progress.tick();
    }
  }
}
