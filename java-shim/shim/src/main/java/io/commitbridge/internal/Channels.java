package io.commitbridge.internal;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.TlsChannelCredentials;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The channels to the endpoints of one configuration, shared by everything in the JVM that uses the
 * same one. Users count: each call or open file holds a lease. They are closed a while after
 * the last lease went, because a task's calls come one after the other.
 */
final class Channels {
  private static final long LINGER_MS = 30_000;
  private static final int MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
  private static final Map<String, Channels> OPEN = new HashMap<>();

  private final String key;
  private final Settings settings;
  private final List<ManagedChannel> channels = new ArrayList<>();
  private int leases;
  private long lastUsedMs;
  private Thread closer;
  private volatile int current;

  private Channels(String key, Settings settings) throws IOException {
    this.key = key;
    this.settings = settings;
    ChannelCredentials credentials = credentials(settings);
    BearerToken token = new BearerToken(settings.tokenFile);
    for (String endpoint : settings.endpoints) {
      channels.add(build(endpoint, credentials, token));
    }
  }

  /** A right to use the channels, until it's closed. */
  static final class Lease implements AutoCloseable {
    private final Channels channels;
    private boolean closed;

    private Lease(Channels channels) {
      this.channels = channels;
    }

    Channels channels() {
      return channels;
    }

    @Override
    public void close() {
      synchronized (OPEN) {
        if (!closed) {
          closed = true;
          channels.release();
        }
      }
    }
  }

  /** Opens the channels, or joins the ones that are open. Nothing is sent. */
  static Lease lease(Settings settings) throws IOException {
    settings.requireEndpoints();
    String key = settings.connectionKey();
    synchronized (OPEN) {
      Channels channels = OPEN.get(key);
      if (channels == null) {
        channels = new Channels(key, settings);
        OPEN.put(key, channels);
      }
      channels.leases++;
      return new Lease(channels);
    }
  }

  /** How many leases there are on these settings, for tests. */
  static int leases(Settings settings) {
    synchronized (OPEN) {
      Channels channels = OPEN.get(settings.connectionKey());
      return channels == null ? 0 : channels.leases;
    }
  }

  int size() {
    return channels.size();
  }

  /** The index of the endpoint that answered last. */
  int current() {
    return current;
  }

  @Override
  public String toString() {
    return String.join(", ", settings.endpoints);
  }

  String endpoint(int index) {
    return settings.endpoints.get(index);
  }

  /** The channel, told to try to connect now if it was waiting after a failure. */
  ManagedChannel channel(int index) {
    ManagedChannel channel = channels.get(index);
    channel.resetConnectBackoff();
    return channel;
  }

  /** Says that this endpoint doesn't answer: everybody goes on with the next one. */
  void failed(int index) {
    if (current == index) {
      current = (index + 1) % channels.size();
    }
  }

  private void release() {
    leases--;
    lastUsedMs = Retry.nowMs();
    if (closer == null) {
      closer = new Thread(this::closeWhenIdle, "commitbridge-channel-closer");
      closer.setDaemon(true);
      closer.start();
    }
  }

  private void closeWhenIdle() {
    boolean idle = false;
    while (!idle) {
      try {
        TimeUnit.MILLISECONDS.sleep(LINGER_MS);
      } catch (InterruptedException e) {
        // Nobody interrupts this thread but a JVM that goes down.
        return;
      }
      synchronized (OPEN) {
        idle = leases == 0 && Retry.nowMs() - lastUsedMs >= LINGER_MS;
        if (idle) {
          OPEN.remove(key);
        }
      }
    }
    for (ManagedChannel channel : channels) {
      channel.shutdown();
    }
  }

  private static ManagedChannel build(
      String endpoint, ChannelCredentials credentials, BearerToken token) throws IOException {
    boolean unix = endpoint.startsWith("unix:");
    String target = unix ? endpoint : "dns:///" + endpoint;
    if (!unix && !endpoint.matches("[^/\\s]+:[0-9]+")) {
      throw new CommitbridgeException(CommitbridgeException.CONFIGURATION,
          ConfKeys.ENDPOINTS + " has '" + endpoint + "': write host:port or unix:///path");
    }
    ManagedChannelBuilder<?> builder;
    try {
      builder = Grpc.newChannelBuilder(target, credentials);
      if (unix) {
        NettyLog.quiet();
        // gRPC would send the path, URL-encoded, and Node's HTTP/2 server refuses that.
        builder.overrideAuthority("localhost");
      }
      if (!unix) {
        builder.keepAliveTime(5, TimeUnit.MINUTES).keepAliveTimeout(20, TimeUnit.SECONDS);
      }
      // The retry here is the only one: it knows deadlines, endpoints and the reasons of errors.
      return builder.intercept(token).disableRetry().maxInboundMessageSize(MAX_MESSAGE_BYTES)
          .build();
    } catch (IllegalArgumentException | IllegalStateException e) {
      throw new CommitbridgeException(CommitbridgeException.CONFIGURATION,
          ConfKeys.ENDPOINTS + " has '" + endpoint + "', which can't be used: " + e.getMessage(),
          e);
    }
  }

  private static ChannelCredentials credentials(Settings settings) throws IOException {
    if (!settings.tls) {
      return InsecureChannelCredentials.create();
    }
    try {
      TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
      if (!settings.caFile.isEmpty()) {
        builder.trustManager(new File(settings.caFile));
      }
      if (!settings.certFile.isEmpty()) {
        builder.keyManager(new File(settings.certFile), new File(settings.keyFile));
      }
      return builder.build();
    } catch (IOException e) {
      throw new CommitbridgeException(CommitbridgeException.CONFIGURATION,
          "A file that commitbridge.tls.* names can't be read: " + e.getMessage(), e);
    }
  }
}
