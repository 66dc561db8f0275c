package io.commitbridge.internal;

import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** One try of a call of several messages, which go as fast as the daemon takes them. */
final class MessageStream<Q, R> implements ClientResponseObserver<Q, R> {
  private final Iterator<Q> messages;
  private final CompletableFuture<R> result = new CompletableFuture<>();
  private ClientCallStreamObserver<Q> requests;
  private R response;
  private boolean halfClosed;

  MessageStream(Iterable<Q> messages) {
    this.messages = messages.iterator();
  }

  /** Hands this to the stub's method. */
  Future<R> send(Consumer<MessageStream<Q, R>> call) {
    call.accept(this);
    return result;
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<Q> requestStream) {
    requests = requestStream;
    requests.setOnReadyHandler(this::push);
    result.whenComplete((value, error) -> {
      if (result.isCancelled()) {
        requests.cancel("The caller was interrupted", null);
      }
    });
  }

  private void push() {
    while (requests.isReady() && messages.hasNext()) {
      requests.onNext(messages.next());
    }
    if (!messages.hasNext() && !halfClosed) {
      halfClosed = true;
      requests.onCompleted();
    }
  }

  @Override
  public void onNext(R value) {
    response = value;
  }

  @Override
  public void onError(Throwable error) {
    result.completeExceptionally(error);
  }

  @Override
  public void onCompleted() {
    result.complete(response);
  }
}
