package io.commitbridge.internal;

import io.commitbridge.ConfKeys;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.FileTime;

/** Sends the content of the token file with every call; reads it again when it changed. */
final class BearerToken implements ClientInterceptor {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final String file;
  private String token;
  private FileTime readAt;
  private long readSize;

  BearerToken(String file) {
    this.file = file;
  }

  @Override
  public <Q, R> ClientCall<Q, R> interceptCall(
      MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
    ClientCall<Q, R> call = next.newCall(method, options);
    if (file.isEmpty()) {
      return call;
    }
    return new ForwardingClientCall.SimpleForwardingClientCall<Q, R>(call) {
      @Override
      public void start(Listener<R> listener, Metadata headers) {
        headers.put(AUTHORIZATION, "Bearer " + current());
        super.start(listener, headers);
      }
    };
  }

  private synchronized String current() {
    Path path = Paths.get(file);
    try {
      FileTime modified = Files.getLastModifiedTime(path);
      long size = Files.size(path);
      if (token == null || !modified.equals(readAt) || size != readSize) {
        token = new String(Files.readAllBytes(path), StandardCharsets.UTF_8).trim();
        readAt = modified;
        readSize = size;
      }
      return token;
    } catch (IOException e) {
      throw Status.UNAUTHENTICATED.withDescription("The token file that "
          + ConfKeys.AUTH_TOKEN_FILE + " names can't be read: " + e).asRuntimeException();
    }
  }
}
