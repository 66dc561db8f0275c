package io.commitbridge.internal;

import io.grpc.netty.shaded.io.netty.bootstrap.Bootstrap;
import io.grpc.netty.shaded.io.netty.util.internal.logging.InternalLoggerFactory;
import io.grpc.netty.shaded.io.netty.util.internal.logging.JdkLoggerFactory;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Netty warns, for every connection to a unix socket, that it doesn't know a TCP option which gRPC
 * sets. It's our own copy of Netty, so it may log as java.util.logging, where that one warning can
 * be turned off without the engine's logging library.
 */
final class NettyLog {
  /** Kept: a logger that nobody holds forgets its level. */
  private static final Logger BOOTSTRAP = Logger.getLogger(Bootstrap.class.getName());

  static {
    InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
    BOOTSTRAP.setLevel(Level.SEVERE);
  }

  private NettyLog() {}

  /** Runs the initializer above, once. */
  static void quiet() {}
}
